// What the model tests of the active queue share: its sequential specification, its dimensions made
// so small that every border is near, and a body that runs steps and judges their history.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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
    const Result popped = entries.front().ticket;
    entries.erase(entries.begin());
    return popped;
  }
  static std::string Describe(const Operation& operation) {
    if (operation.is_push) return "push " + Describe(operation.entry.ticket);
    return "pop";
  }
  static std::string Describe(const Result& result) {
    if (result == kPushed) return "done";
    if (result == kNothing) return "nothing";
    return std::to_string(result / 100) + "@" + std::to_string(result % 100);
  }
};

using ActiveStep = ActiveQueueSpec::Operation;
using ActiveSteps = std::vector<ActiveStep>;

inline ActiveStep Push(int32_t priority, int64_t timestamp_ns) {
  // The ticket says it all, for the explanation of a failure.
  return {true, {priority, timestamp_ns, static_cast<uint64_t>(priority * 100 + timestamp_ns)}};
}
inline ActiveStep Pop() { return {}; }

// Two lanes of two runs; segments of two entries; a heap whose parts split at once.
struct ModelShape {
  static constexpr uint32_t kSegmentEntries = 2;
  static constexpr uint32_t kRunsPerLane = 2;
  static constexpr uint32_t kLanesAtOnce = 2;
  static constexpr uint32_t kLanesMax = 2;
  static constexpr uint32_t kBucketEntries = 8;
  static constexpr uint32_t kBagEntries = 1;
  static constexpr uint32_t kRangesMin = 1;
  static constexpr uint32_t kHeapRootsMax = 64;
  static constexpr uint32_t kSegmentsMax = 64;
  static constexpr uint32_t kFirstSegmentsBits = 1;
  static constexpr uint32_t kPopsPerSweep = 64;
  // They are advice, and none with the model's atomics.
  static constexpr bool kTakesTurns = false;
};
// The same with a segment for one run.
struct OneSegmentShape : ModelShape {
  static constexpr uint32_t kSegmentsMax = 1;
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

// How a history pops: takes the entry itself.
struct PopsEntry {
  template <typename Queue>
  uint64_t operator()(Queue& queue) {
    const auto popped = queue.TryPop();
    return popped ? popped->ticket : ActiveQueueSpec::kNothing;
  }
};

// Or what it stands for, in a table that says what was taken.
class PopsElsewhere {
 public:
  struct Taker {
    static constexpr bool kDropsToTake = false;
    static constexpr uint32_t kAhead = 0;
    Consent Ask(const ActiveEntry& first) {
      ticket = first.ticket;
      return owner.Of(ticket).load() == 0 ? Consent::kTake : Consent::kDrop;
    }
    bool Claim() { return owner.Take(ticket); }

    PopsElsewhere& owner;
    uint64_t ticket = 0;
  };
  template <typename Queue>
  uint64_t operator()(Queue& queue) {
    Taker taker{*this};
    Taking taking = Taking::kDropped;
    while (taking == Taking::kDropped) taking = queue.TryTake(taker);
    MODEL_CHECK(taking != Taking::kLeft, "nothing is left there");
    return taking == Taking::kTaken ? taker.ticket : ActiveQueueSpec::kNothing;
  }

  // False: it is taken already.
  bool Take(uint64_t ticket) {
    uint32_t expected = 0;
    return Of(ticket).compare_exchange_strong(expected, 1);
  }

 private:
  // What a reader may take for a ticket is one that there once was.
  model::Atomic<uint32_t>& Of(uint64_t ticket) { return taken_[ticket % taken_.size()]; }

  // By priority * 100 + timestamp, of which tests that use this have few.
  std::array<model::Atomic<uint32_t>, 23> taken_{};
};

template <typename Queue, typename PopBy = PopsEntry>
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
      return pop_(queue_);
    });
  }

  Queue queue_;
  PopBy pop_;
  Recorder<ActiveQueueSpec, model::ExecutionOrder> recorder_;
};

// `first` alone, then the threads, then whatever is left.
template <typename Shape,
          template <template <typename> class, uint32_t> class CollectOf = DoubleCollect,
          typename PopBy = PopsEntry>
model::Body BodyOf(ActiveSteps first, std::vector<ActiveSteps> threads) {
  return [=](model::Trial& trial) {
    using Queue = ActiveQueue<model::Atomic, Shape, CollectOf>;
    ActiveQueueHistory<Queue, PopBy> history(static_cast<uint32_t>(threads.size()) + 1);
    history.Run(0, first);
    for (uint32_t i = 0; i < threads.size(); ++i) {
      trial.Thread([&history, &threads, i] { history.Run(i + 1, threads[i]); });
    }
    trial.Join();
    history.Judge();
  };
}

}  // namespace schedq
