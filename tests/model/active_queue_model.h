// What the model tests of the active queue share: its sequential specification, its dimensions made
// so small that every border is near, and a body that runs steps and judges their history.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/active/double_collect.h"
#include "tests/support/history.h"
#include "tests/support/linearizability.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/happens_before.h"

namespace schedq {

// A strict priority queue, one operation after another.
struct ActiveQueueSpec {
  struct Operation {
    bool is_push = false;
    ActiveEntry entry;
    // Of a pop of several: how many it took, which the queue decides. Null: of one.
    std::shared_ptr<size_t> count;
  };
  // Sorted by what goes first; a key is unique in a test.
  struct State {
    std::vector<ActiveEntry> entries;
    bool operator<(const State& other) const {
      return std::lexicographical_compare(entries.begin(), entries.end(), other.entries.begin(),
                                          other.entries.end(), GoesBefore);
    }
  };
  // The ticket that was popped. Not an optional: the recorder keeps one around it.
  using Result = uint64_t;
  static constexpr Result kNothing = 0;
  static constexpr Result kPushed = ~uint64_t{0};
  static constexpr uint64_t kTickets = 10'000;  // More than there are.

  static Result Apply(State& state, const Operation& operation) {
    auto& entries = state.entries;
    if (operation.is_push) {
      const auto place =
          std::upper_bound(entries.begin(), entries.end(), operation.entry, GoesBefore);
      entries.insert(place, operation.entry);
      return kPushed;
    }
    if (entries.empty()) return kNothing;
    const size_t count = operation.count ? std::min(*operation.count, entries.size()) : 1;
    Result popped = ResultOf(entries.data(), count);
    entries.erase(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(count));
    // None although there are some: no result is like this.
    return count == 0 ? kPushed : popped;
  }
  // All their tickets in one number.
  static Result ResultOf(const ActiveEntry* entries, size_t count) {
    Result result = kNothing;
    for (size_t i = 0; i < count; ++i) result = result * kTickets + entries[i].ticket;
    return result;
  }
  static std::string Describe(const Operation& operation) {
    if (operation.is_push) return "push " + Describe(operation.entry.ticket);
    return operation.count ? "pop several" : "pop";
  }
  static std::string Describe(const Result& result) {
    if (result == kPushed) return "done";
    if (result == kNothing) return "nothing";
    const std::string before = result < kTickets ? "" : Describe(result / kTickets) + " ";
    const uint64_t ticket = result % kTickets;
    return before + std::to_string(ticket / 100) + "@" + std::to_string(ticket % 100);
  }
};

using ActiveStep = ActiveQueueSpec::Operation;
using ActiveSteps = std::vector<ActiveStep>;

inline ActiveStep Push(int32_t priority, int64_t timestamp_ns) {
  // The ticket says it all, for the explanation of a failure.
  return {true,
          {priority, timestamp_ns, static_cast<uint64_t>(priority * 100 + timestamp_ns)},
          nullptr};
}
inline ActiveStep Pop() { return {}; }
inline ActiveStep PopMany() { return {false, {}, std::make_shared<size_t>(0)}; }

// Two lanes of two runs; segments of two entries; a heap whose parts split at once.
struct ModelShape {
  static constexpr uint32_t kSegmentEntries = 2;
  static constexpr uint32_t kRunsPerLane = 2;
  static constexpr uint32_t kLanesAtOnce = 2;
  static constexpr uint32_t kLanesMax = 2;
  static constexpr uint32_t kBucketEntries = 8;
  static constexpr uint32_t kBagEntries = 1;
  static constexpr uint32_t kBuckets = 8;
  static constexpr uint32_t kFirstSegmentsBits = 1;
  static constexpr uint32_t kPopsPerSweep = 64;
};
// The same without lanes, for priorities that come less than three times: all goes to the heap.
struct HeapShape : ModelShape {
  static constexpr uint32_t kLanesAtOnce = 0;
  static constexpr uint32_t kLanesMax = 1;
};
// The same, taking idle runs and lanes out of use after every pop.
struct SweepingShape : ModelShape {
  static constexpr uint32_t kPopsPerSweep = 1;
};

template <typename Queue>
class ActiveQueueHistory {
 public:
  explicit ActiveQueueHistory(uint32_t threads) : recorder_(threads) {}

  void Run(uint32_t thread, const ActiveSteps& steps) {
    for (const ActiveStep& step : steps) RunStep(thread, step);
  }

  // Empties the queue as thread 0 and judges all that was recorded.
  void Judge() {
    while (RunStep(0, Pop()) != ActiveQueueSpec::kNothing) {
    }
    const Linearizability verdict = CheckLinearizable(recorder_.History());
    MODEL_CHECK(verdict.holds, verdict.explanation);
  }

 private:
  uint64_t RunStep(uint32_t thread, const ActiveStep& step) {
    return recorder_.Record(thread, step, [&] {
      if (step.is_push) {
        queue_.Push(step.entry);
        return ActiveQueueSpec::kPushed;
      }
      if (step.count) {
        std::array<ActiveEntry, 3> taken;
        *step.count = queue_.TryPopMany(taken.data(), taken.size());
        return ActiveQueueSpec::ResultOf(taken.data(), *step.count);
      }
      const auto popped = queue_.TryPop();
      return popped ? popped->ticket : ActiveQueueSpec::kNothing;
    });
  }

  Queue queue_;
  Recorder<ActiveQueueSpec, model::ExecutionOrder> recorder_;
};

// `first` alone, then the threads, then whatever is left.
template <typename Shape,
          template <template <typename> class, uint32_t> class CollectOf = DoubleCollect>
model::Body BodyOf(ActiveSteps first, std::vector<ActiveSteps> threads) {
  return [=](model::Trial& trial) {
    using Queue = ActiveQueue<model::Atomic, Shape, CollectOf>;
    ActiveQueueHistory<Queue> history(static_cast<uint32_t>(threads.size()) + 1);
    history.Run(0, first);
    for (uint32_t i = 0; i < threads.size(); ++i) {
      trial.Thread([&history, &threads, i] { history.Run(i + 1, threads[i]); });
    }
    trial.Join();
    history.Judge();
  };
}

}  // namespace schedq
