// Goal: dropping stale tickets takes nothing from the active queue but those, in every schedule: no
// pop misses an entry that stays, or finds one out of order, and no thread waits for one that is
// frozen while it drops.
// Method: a queue in which some entries were given up; one thread drops from it while others push
// and pop, exhaustive to two preemptions, and to three where that is little. Histories are judged
// against a sequential priority queue that never held what was given up. A queue that drops entries
// before it has pushed those that stay must be caught.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "tests/model/active_queue_model.h"
#include "tests/support/history.h"
#include "tests/support/linearizability.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/happens_before.h"
#include "tests/support/model/runtime.h"

namespace schedq {

struct DropsBeforeItPushes : ModelShape {};

template <>
template <typename IsStale>
uint64_t ActiveQueue<model::Atomic, DropsBeforeItPushes>::DropStaleOf(typename Lane::Run& run,
                                                                      int32_t priority,
                                                                      const IsStale& is_stale) {
  std::array<ActiveEntry, kDropMax> entries;
  const auto view = run.Look();
  const size_t count = view.IsEmpty() ? 0 : Lane::Run::TakeableIn(view, kDropMax);
  if (count == 0) return 0;
  run.ReadMany(segments_, view, entries.data(), count);
  if (!run.TryDropMany(segments_, view, count)) return 0;
  for (size_t i = 0; i < count; ++i) {
    entries[i].priority = priority;
    if (!is_stale(entries[i].ticket)) Push(entries[i]);
  }
  return count;
}

namespace {

using model::FailureKind;
using model::Report;

// What a thread does: pushes, pops, and steps of dropping, each with what chooses its place.
struct Step {
  ActiveStep recorded;
  bool drops = false;
  uint64_t chance = 0;
};
using Steps = std::vector<Step>;

Step Add(int32_t priority, int64_t timestamp_ns) { return {Push(priority, timestamp_ns)}; }
Step Take() { return {Pop()}; }
Step Drop(uint64_t chance) { return {{}, true, chance}; }

struct Scenario {
  ActiveSteps stale;  // Pushed first, and given up.
  ActiveSteps live;
  std::vector<Steps> threads;
};

template <typename Shape>
class StaleHistory {
 public:
  explicit StaleHistory(uint32_t threads) : recorder_(threads) {}

  void PushStale(const ActiveSteps& pushes) {
    for (const ActiveStep& push : pushes) {
      queue_.Push(push.entry);
      IsGone(push.entry.ticket).store(1);
    }
  }
  void Run(uint32_t thread, const Step& step) {
    if (step.drops) return DropStale(step.chance);
    RunRecorded(thread, step.recorded);
  }
  void Judge() {
    while (RunRecorded(0, Pop()) != ActiveQueueSpec::kNothing) {
    }
    const Linearizability verdict = CheckLinearizable(recorder_.History());
    MODEL_CHECK(verdict.holds, verdict.explanation);
  }

 private:
  // By priority and timestamp, both below ten.
  model::Atomic<uint32_t>& IsGone(uint64_t ticket) {
    return is_gone_[ticket / 100 * 10 + ticket % 100];
  }
  void DropStale(uint64_t chance) {
    queue_.DropStale(chance, [this](uint64_t ticket) { return IsGone(ticket).load() != 0; });
  }
  uint64_t RunRecorded(uint32_t thread, const ActiveStep& step) {
    return recorder_.Record(thread, step, [&] {
      if (step.is_push) {
        queue_.Push(step.entry);
        return ActiveQueueSpec::kPushed;
      }
      // As in the engine: the thread that takes a ticket moves its pod, or drops the ticket.
      for (;;) {
        const auto popped = queue_.TryPop();
        if (!popped) return ActiveQueueSpec::kNothing;
        if (IsGone(popped->ticket).exchange(1) == 0) return popped->ticket;
      }
    });
  }

  ActiveQueue<model::Atomic, Shape> queue_;
  // Set by the thread that takes a ticket.
  std::array<model::Atomic<uint32_t>, 100> is_gone_;
  Recorder<ActiveQueueSpec, model::ExecutionOrder> recorder_;
};

template <typename Shape>
model::Body BodyOfScenario(const Scenario& scenario) {
  return [=](model::Trial& trial) {
    StaleHistory<Shape> history(static_cast<uint32_t>(scenario.threads.size()) + 1);
    history.PushStale(scenario.stale);
    for (const ActiveStep& step : scenario.live) history.Run(0, {step});
    for (uint32_t i = 0; i < scenario.threads.size(); ++i) {
      trial.Thread([&history, &scenario, i] {
        for (const Step& step : scenario.threads[i]) history.Run(i + 1, step);
      });
    }
    trial.Join();
    history.Judge();
  };
}

model::Options Named(const std::string& suffix = "") {
  model::Options options = model::OptionsOfTest(suffix);
  options.preemptions_max = 2;
  options.stale_reads_max = 0;
  return options;
}

template <typename Shape>
void ExpectRight(const Scenario& scenario, const std::string& suffix, uint32_t preemptions_max) {
  model::Options options = Named(suffix);
  options.preemptions_max = model::PreemptionsOr(preemptions_max);
  // In the heap whole parts are copied; one stale read more is explored by programs without it.
  if (Shape::kLanesAtOnce != 0) options.stale_reads_max = 1;
  const Report report = model::Exhaust(options, BodyOfScenario<Shape>(scenario));
  model::ExpectExhausted(report, 100);
}

// The lane of priority 1 holds two that are stale and two that are not, in two segments.
const ActiveSteps kStale = {Push(1, 1), Push(1, 3)};
const ActiveSteps kLive = {Push(1, 4), Push(1, 5)};

TEST(ActiveQueueStaleModel, DropMeetsPops) {
  ExpectRight<ModelShape>({kStale, kLive, {{Drop(0)}, {Take()}}}, "_stale", 3);
  ExpectRight<ModelShape>({{}, kLive, {{Drop(0)}, {Take()}}}, "_live", 3);
  ExpectRight<ModelShape>({{}, kLive, {{Drop(0)}, {Take(), Take()}}}, "_two", 2);
}

TEST(ActiveQueueStaleModel, DropMeetsPushes) {
  ExpectRight<ModelShape>({{}, kLive, {{Drop(0)}, {Add(1, 6), Take()}}}, "_late", 2);
  ExpectRight<ModelShape>({{}, kLive, {{Drop(0)}, {Add(1, 2), Take()}}}, "_early", 2);
  ExpectRight<ModelShape>({kStale, {}, {{Drop(0)}, {Add(2, 6), Take()}}}, "_above", 2);
}

TEST(ActiveQueueStaleModel, DropMeetsDrop) {
  ExpectRight<ModelShape>({{Push(1, 1)}, {Push(1, 2)}, {{Drop(0)}, {Drop(0), Take()}}}, "", 2);
}

// The segment that is looked at is used again, by another lane, before the look ends.
TEST(ActiveQueueStaleModel, DropMeetsSegmentThatIsUsedAgain) {
  ExpectRight<ModelShape>({{}, {Push(1, 1), Push(1, 2)}, {{Drop(0)}, {Take(), Take(), Add(2, 3)}}},
                          "", 2);
}

// The heap: a full bucket, and what is left of two buckets goes together.
Scenario InHeap(std::vector<Steps> threads) {
  Scenario scenario;
  for (int32_t i = 0; i < 6; ++i)
    (i % 2 == 0 ? scenario.stale : scenario.live).push_back(Push(6 - i, 1));
  scenario.threads = std::move(threads);
  return scenario;
}

TEST(ActiveQueueStaleModel, DropInTheHeapMeetsPop) {
  ExpectRight<HeapShape>(InHeap({{Drop(0)}, {Take()}}), "_first", 2);
  ExpectRight<HeapShape>(InHeap({{Drop(8)}, {Take()}}), "_second", 1);
}

TEST(ActiveQueueStaleModel, DropInTheHeapMeetsPush) {
  ExpectRight<HeapShape>(InHeap({{Drop(0)}, {Add(5, 2)}}), "_first", 2);
  ExpectRight<HeapShape>(InHeap({{Drop(0)}, {Add(1, 2)}}), "_second", 1);
}

TEST(ActiveQueueStaleModel, DropInTheHeapMeetsDrop) {
  ExpectRight<HeapShape>(InHeap({{Drop(0)}, {Drop(0)}}), "", 1);
}

TEST(ActiveQueueStaleModelCanary, QueueThatDropsBeforeItPushesIsCaught) {
  const Scenario scenario = {{}, kLive, {{Drop(0)}, {Take()}}};
  const Report report = model::Exhaust(Named(), BodyOfScenario<DropsBeforeItPushes>(scenario));
  EXPECT_TRUE(report.failed_by(FailureKind::kCheck)) << report;
}

template <typename Shape>
void ExpectNoThreadWaits(const Scenario& scenario, const std::string& suffix) {
  model::Options options = Named(suffix);
  options.preemptions_max = 0;
  const Report report = model::ExhaustStalls(options, BodyOfScenario<Shape>(scenario));
  model::ExpectNoStall(report, 10);
}

TEST(ActiveQueueStaleModelStall, FrozenDropStopsNoOther) {
  ExpectNoThreadWaits<ModelShape>({kStale, kLive, {{Drop(0)}, {Add(1, 6), Take(), Take()}}},
                                  "_lane");
  ExpectNoThreadWaits<HeapShape>(InHeap({{Drop(0)}, {Add(5, 2), Take(), Take()}}), "_heap");
}

}  // namespace
}  // namespace schedq
