// Goal: the active queue is a strict priority queue in every schedule: histories of pushes and pops
// are linearizable, emptiness included, in lanes, in the heap and between them; and no operation
// waits for a thread that is frozen.
// Method: small mixes of two threads with two operations each, exhaustive to three preemptions, on
// queues whose borders are near; every history is judged against a sequential priority queue in the
// order of execution. The same scan without its second collect must be caught.
#include "tests/model/active_queue_model.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/active/double_collect.h"
#include "engine/lockfree/active/sorted_run.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/runtime.h"

namespace schedq {
namespace {

using model::FailureKind;
using model::Report;

model::Options Named(const std::string& suffix = "") {
  model::Options options = model::OptionsOfTest(suffix);
  options.stale_reads_max = 1;
  return options;
}

template <typename Shape, typename PopBy = PopsEntry>
void ExpectLinearizable(const ActiveSteps& first, const std::vector<ActiveSteps>& threads,
                        const std::string& suffix = "") {
  size_t steps = 0;
  for (const ActiveSteps& thread : threads) steps += thread.size();
  model::Options options = Named(suffix);
  // Schedules grow with the power of the preemptions; longer programs get by with two. So do those
  // of the heap, which copy whole parts; their stale reads are left to the sweep below.
  const bool is_heap = Shape::kLanesAtOnce == 0 || Shape::kSegmentsMax == 1;
  options.preemptions_max = steps <= 3 && !is_heap ? 3 : 2;
  if (is_heap) options.stale_reads_max = 0;
  const Report report =
      model::Exhaust(options, BodyOf<Shape, DoubleCollect, PopBy>(first, threads));
  model::ExpectExhausted(report, 300);
}

// Both lanes are there and in use, and empty.
const ActiveSteps kTwoLanes = {Push(1, 1), Pop(), Push(2, 2), Pop()};

TEST(ActiveQueueModel, HighThenLowMeetsPops) {
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(2, 3), Push(1, 4)}, {Pop()}}, "_3");
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(2, 3), Push(1, 4)}, {Pop(), Pop()}}, "_4");
}

TEST(ActiveQueueModel, LowThenHighMeetsPops) {
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(1, 3), Push(2, 4)}, {Pop()}}, "_3");
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(1, 3), Push(2, 4)}, {Pop(), Pop()}}, "_4");
}

TEST(ActiveQueueModel, PushesMeetInOneLane) {
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(1, 3), Pop()}, {Push(1, 4)}}, "_3");
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(1, 3), Pop()}, {Push(1, 4), Pop()}}, "_4");
}

TEST(ActiveQueueModel, LateTimestampGoesToAFurtherRun) {
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(1, 5), Push(1, 3)}, {Pop()}}, "_3");
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(1, 5), Push(1, 3)}, {Pop(), Pop()}}, "_4");
}

TEST(ActiveQueueModel, EmptyRunTakesAnOlderTimestamp) {
  const ActiveSteps first = {Push(1, 9), Push(1, 5)};
  ExpectLinearizable<ModelShape>(first, {{Pop(), Push(1, 3)}, {Pop()}}, "_3");
  ExpectLinearizable<ModelShape>(first, {{Pop(), Push(1, 3)}, {Pop(), Pop()}}, "_4");
}

TEST(ActiveQueueModel, EmptinessIsExact) {
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(1, 3), Pop()}, {Pop()}}, "_3");
  ExpectLinearizable<ModelShape>(kTwoLanes, {{Push(2, 3), Pop()}, {Pop(), Push(1, 4)}}, "_4");
}

TEST(ActiveQueueModel, PopsMeetAtTheLastEntries) {
  ExpectLinearizable<ModelShape>({Push(2, 1), Push(1, 2), Push(1, 3)}, {{Pop(), Pop()}, {Pop()}});
}

TEST(ActiveQueueModel, PopMayTakeWhatAnEntryStandsForElsewhere) {
  const ActiveSteps first = {Push(0, 1), Push(0, 2), Push(0, 3), Pop()};
  ExpectLinearizable<ModelShape, PopsElsewhere>(first, {{Pop()}, {Pop(), Push(0, 4)}}, "_pops");
  ExpectLinearizable<ModelShape, PopsElsewhere>({Push(1, 1), Pop(), Push(0, 2)},
                                                {{Pop()}, {Push(1, 3), Push(0, 4)}}, "_push");
  ExpectLinearizable<HeapShape, PopsElsewhere>({Push(1, 1), Push(0, 2)}, {{Pop()}, {Pop()}},
                                               "_heap");
}

// Two threads move all there is, and a third pops: each entry is taken once, by whom it was found.
template <typename Shape>
model::Body MovesMeetPop() {
  return [](model::Trial& trial) {
    ActiveQueue<model::Atomic, Shape> queue;
    PopsElsewhere taken;
    constexpr uint64_t kEntries = 3;
    for (uint64_t i = 1; i <= kEntries; ++i) queue.Push(Push(0, static_cast<int64_t>(i)).entry);
    std::array<uint64_t, 2> moved{};
    const auto move_all = [&](uint64_t* count) {
      std::array<ActiveEntry, 2> room;
      const auto is_any = [](const ActiveEntry&) { return true; };
      while (queue.MoveFirst(room, is_any, [&](std::span<ActiveEntry> shown) {
        for (const ActiveEntry& entry : shown) *count += taken.Take(entry.ticket) ? 1 : 0;
      }) > 0) {
      }
    };
    uint64_t popped = 0;
    trial.Thread([&] { move_all(&moved[0]); });
    trial.Thread([&] { popped = taken(queue) == ActiveQueueSpec::kNothing ? 0 : 1; });
    trial.Join();
    move_all(&moved[1]);
    MODEL_CHECK(moved[0] + moved[1] + popped == kEntries, "each is taken once");
    MODEL_CHECK(queue.Size() == 0 && moved[1] == 0, "nothing is left");
  };
}
TEST(ActiveQueueModel, MoveOfSeveralMeetsPop) {
  model::Options in_lanes = Named("_lane");
  in_lanes.preemptions_max = model::PreemptionsOr(2);
  model::ExpectExhausted(model::Exhaust(in_lanes, MovesMeetPop<ModelShape>()), 300);
  model::Options in_heap = Named("_heap");
  in_heap.preemptions_max = model::PreemptionsOr(2);
  in_heap.stale_reads_max = 0;
  model::ExpectExhausted(model::Exhaust(in_heap, MovesMeetPop<HeapShape>()), 300);
}

TEST(ActiveQueueModel, SegmentsAreUsedAgain) {
  const ActiveSteps first = {Push(1, 1), Push(1, 2), Push(1, 3), Pop()};
  ExpectLinearizable<ModelShape>(first, {{Pop(), Pop()}, {Push(1, 4)}}, "_3");
  ExpectLinearizable<ModelShape>(first, {{Pop(), Pop()}, {Push(1, 4), Push(2, 5)}}, "_4");
}

TEST(SortedRunModel, RefusedAppendsLeaveTheRunAsItWas) {
  using Run = SortedRun<model::Atomic, 2>;
  const auto body = [](model::Trial& trial) {
    Run::Pool pool(/*first_bits=*/0, /*limit=*/1);
    Run run;
    const std::array<ActiveEntry, 2> entries = {Push(0, 1).entry, Push(0, 2).entry};
    MODEL_CHECK(run.TryAppend(pool, entries.data(), 1) == AppendOutcome::kAppended,
                "there is room");
    const auto append = [&] {
      const AppendOutcome outcome = run.TryAppend(pool, &entries[1], 1);
      MODEL_CHECK(outcome == AppendOutcome::kFull || outcome == AppendOutcome::kBusy,
                  "the last slot of a segment needs the next one");
    };
    trial.Thread(append);
    trial.Thread(append);
    trial.Join();
    MODEL_CHECK(run.Look().Size() == 1 && run.TimestampAt(pool, run.Look()) == 1,
                "what was there is there");
  };
  model::ExpectExhausted(model::Exhaust(model::OptionsOfTest(), body), 100);
}

// The last slot of a segment needs the next one. So does the first of another lane.
TEST(ActiveQueueModel, WhatFindsNoSegmentGoesToTheHeap) {
  ExpectLinearizable<OneSegmentShape>({Push(1, 1)}, {{Push(1, 2)}, {Push(1, 3)}}, "_pushes");
  ExpectLinearizable<OneSegmentShape>({Push(1, 1)}, {{Push(1, 2), Pop()}, {Pop()}}, "_pop");
  ExpectLinearizable<OneSegmentShape>({}, {{Push(1, 1), Pop()}, {Push(2, 2)}}, "_lanes");
}

TEST(ActiveQueueModel, LanesAreMadeAtTheSameTime) {
  ExpectLinearizable<ModelShape>({}, {{Push(1, 1), Pop()}, {Push(2, 2)}});
}

TEST(ActiveQueueModel, HeapTakesWhatHasNoLane) {
  const ActiveSteps first = {Push(1, 1), Push(2, 2), Push(3, 3), Pop(), Pop()};
  ExpectLinearizable<ModelShape>(first, {{Push(3, 4), Push(2, 5)}, {Pop()}});
}

TEST(ActiveQueueModel, HeapFrontOverflowsAndDrains) {
  const ActiveSteps first = {Push(5, 1), Push(6, 2), Push(7, 3)};
  ExpectLinearizable<HeapShape>(first, {{Push(9, 4)}, {Pop()}}, "_overflow");
  ExpectLinearizable<HeapShape>({Push(5, 1), Push(6, 2)}, {{Push(4, 4)}, {Pop(), Pop()}}, "_drain");
}

TEST(ActiveQueueModel, HeapBucketSplits) {
  ActiveSteps first;
  for (int32_t i = 0; i < 10; ++i) first.push_back(Push(20 - i, 1));
  ExpectLinearizable<HeapShape>(first, {{Push(4, 2)}, {Push(5, 2)}});
}

// The front is full and the first bucket takes what it gives; `further` entries are there already.
// Many entries are copied at each of many steps: two preemptions would take minutes.
void ExpectGiven(int32_t further, const std::vector<ActiveSteps>& threads, const char* suffix) {
  ActiveSteps first;
  for (int32_t i = 0; i < 5; ++i) first.push_back(Push(11 + i, 1));
  for (int32_t i = 0; i < further; ++i) first.push_back(Push(1 + i, 1));
  model::Options options = Named(suffix);
  options.preemptions_max = 1;
  options.stale_reads_max = 0;
  const Report report = model::Exhaust(options, BodyOf<HeapShape>(first, threads));
  model::ExpectExhausted(report, 100);
}
TEST(ActiveQueueModel, HeapFrontGivesToTheFirstBucket) {
  ExpectGiven(0, {{Push(16, 1)}, {Push(5, 1)}}, "_push");
  ExpectGiven(0, {{Push(16, 1)}, {Push(17, 1)}}, "_give");
  ExpectGiven(0, {{Push(16, 1)}, {Pop()}}, "_pop");
  ExpectGiven(4, {{Push(16, 1)}, {Push(5, 1), Push(6, 1)}}, "_full");
}

TEST(ActiveQueueModel, IdleLanesGoOutOfUse) {
  ExpectLinearizable<SweepingShape>({Push(2, 1), Push(1, 2), Push(1, 3), Pop()},
                                    {{Pop()}, {Push(2, 4), Pop()}}, "_lane");
  ExpectLinearizable<SweepingShape>({Push(1, 5), Push(1, 3), Push(1, 6), Pop()},
                                    {{Pop()}, {Push(1, 4), Pop()}}, "_run");
}

// The classic error: a scan from the top that claims what it finds.
template <template <typename> class Atom, uint32_t kWordsMax>
class SingleCollect : public DoubleCollect<Atom, kWordsMax> {
 public:
  bool StillHolds() const { return true; }
};

TEST(ActiveQueueModelCanary, ScanWithoutSecondCollectIsCaught) {
  const Report report = model::Exhaust(
      Named(),
      BodyOf<ModelShape, SingleCollect>(kTwoLanes, {{Push(2, 3), Push(1, 4)}, {Pop(), Pop()}}));
  EXPECT_TRUE(report.failed_by(FailureKind::kCheck)) << report;
}

void ExpectNoThreadWaits(const ActiveSteps& first, const std::vector<ActiveSteps>& threads,
                         const std::string& suffix) {
  model::Options options = Named(suffix);
  options.preemptions_max = 0;
  options.stale_reads_max = 0;
  const Report in_lanes = model::ExhaustStalls(options, BodyOf<ModelShape>(first, threads));
  model::ExpectNoStall(in_lanes, 10);
  options.name += "_heap";
  const Report in_heap = model::ExhaustStalls(options, BodyOf<HeapShape>(first, threads));
  EXPECT_TRUE(in_heap.passed() && in_heap.complete) << in_heap;
}

TEST(ActiveQueueModelStall, FrozenPushStopsNoOther) {
  ExpectNoThreadWaits({Push(1, 1)}, {{Push(1, 2)}, {Push(1, 3), Pop(), Pop()}}, "_push");
  ExpectNoThreadWaits({}, {{Push(1, 2)}, {Push(1, 3), Push(2, 4), Pop()}}, "_first");
}

TEST(ActiveQueueModelStall, FrozenPopStopsNoOther) {
  ExpectNoThreadWaits({Push(1, 1), Push(1, 2), Push(1, 3)}, {{Pop()}, {Push(1, 4), Pop(), Pop()}},
                      "_pop");
}

// Programs drawn from a seed, larger than what can be exhausted.
TEST(ActiveQueueModelSweep, RandomPrograms) {
  constexpr uint32_t kPrograms = 60;
  constexpr uint64_t kSchedules = 600;
  for (uint32_t program = 0; program < kPrograms; ++program) {
    Random random(program);
    const auto steps = [&random, program](int count) {
      ActiveSteps drawn;
      for (int i = 0; i < count; ++i) {
        // Equal keys have equal tickets, so it does not matter which of two comes out.
        const auto stamp = static_cast<int64_t>(random.Below(90) + 1);
        const auto priority = static_cast<int32_t>(random.Below(3) + 1 + 10 * (program % 2));
        drawn.push_back(random.Below(5) < 3 ? Push(priority, stamp) : Pop());
      }
      return drawn;
    };
    const ActiveSteps first = steps(4);
    const std::vector<ActiveSteps> threads = {steps(4), steps(4), steps(4)};
    const std::string suffix = "_" + std::to_string(program);
    for (const model::Body& body :
         {BodyOf<ModelShape>(first, threads), BodyOf<HeapShape>(first, threads),
          BodyOf<SweepingShape>(first, threads)}) {
      model::Options options = Named(suffix);
      options.steps_max = 20'000;
      const Report report = model::Sweep(options, kSchedules, body);
      ASSERT_TRUE(report.passed()) << report;
    }
  }
}

}  // namespace
}  // namespace schedq
