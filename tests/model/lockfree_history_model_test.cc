// Goal: whichever thread is stopped, wherever: what the other threads' operations have returned is
// what one queue behind a lock would have returned, in some order that respects which came before
// which.
// Method: histories of the assembled engine are judged against a sequential queue of two pods, a
// thread's history as soon as its operations are over, while the others stand where they stand.
// Every client of one operation of a thread and two of another is explored with each thread frozen
// at each of its steps, and every pair with one preemption (more by SCHEDQ_MODEL_PREEMPTIONS).
// lockfree_clients_model_test.cc has longer clients. Engines that leave one kind of help out must
// be caught.
#include "tests/model/lockfree_history_model.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/time/time.h"
#include "engine/lockfree/moves/move_cause.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/moves/pod_mover.h"
#include "engine/place.h"
#include "engine/pod_key.h"
#include "tests/model/lockfree_queue_model.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/runtime.h"

namespace schedq {

// Engines that leave one help out.
struct FinishesNothing : ModelQueueShape {};
struct FinishesNoKnownPod : ModelQueueShape {};
// Something happens right before each move.
struct IsInterrupted : ModelQueueShape {
  static inline std::function<void()> before_move = [] {};
};

template <>
bool MoveFinisher<ModelParts<FinishesNothing>>::FinishAll() {
  return false;
}
template <>
auto MoveFinisher<ModelParts<FinishesNoKnownPod>>::PinFinished(PodId id) -> Pinned {
  return parts_.table.Pin(id);
}

template <>
bool PodMover<ModelParts<IsInterrupted>>::CommitMove(PodId id, const Pinned& pinned, Change* change,
                                                     MoveCause cause, Announcement* announcement) {
  IsInterrupted::before_move();
  return CommitAs<false>(id, pinned, change, cause, announcement);
}

namespace {

using model::FailureKind;
using model::Report;

// Either thread is frozen at each of its steps, and the other judges what it sees meanwhile.
class LockfreeHistoryModel : public testing::TestWithParam<size_t> {};

TEST_P(LockfreeHistoryModel, AnyThreadMayBeFrozenAnywhere) {
  const Beginning& beginning = Beginnings()[GetParam()];
  uint64_t freezes = 0;
  for (const Step& one : beginning.deeds) {
    for (const Step& first : beginning.deeds) {
      for (const Step& second : beginning.deeds) {
        const std::vector<Steps> threads = {{one}, {first, second}};
        const std::string text = TextOf(threads[0]) + "meets " + TextOf(threads[1]);
        const Report report =
            model::ExhaustStalls(Named(text, 0), BodyOf<ModelQueueShape>(beginning, threads));
        ASSERT_TRUE(report.passed()) << beginning.name << ": " << text << "\n" << report;
        freezes += report.freezes;
      }
    }
  }
  EXPECT_GT(freezes, 1000u);
}
INSTANTIATE_TEST_SUITE_P(From, LockfreeHistoryModel, testing::Range<size_t>(0, 7));

// An early pop has seen active empty; then a pod becomes active, and a better one backs off.
TEST(LockfreeEarlyPopModel, AsksWhetherActiveIsStillEmpty) {
  const Beginning in_pool = {"", {{Deed::kAdd, 0}, {Deed::kPop}, {Deed::kFail, 0}}, {}, kBackoff};
  const std::vector<Steps> threads = {{{Deed::kPop}}, {{Deed::kAdd, 1}, {Deed::kEventTooSoon}}};
  const model::Body body = BodyOf<ModelQueueShape>(in_pool, threads, Judged::kAtTheEnd);
  model::ExpectExhausted(model::Exhaust(Named("", 2), body), 100);
}

// A flush or an activation moves the better pod out of backoff while a pop sees active empty, goes
// on to backoff and finds the other pod there. Pushes that are counted before a pod can be found
// make it take that one.
TEST(LockfreeEarlyPopModel, TakesNoOtherThanWhatIsBeingMoved) {
  const Beginning both = {"", kBothBackOff, {}, kBackoff};
  for (const Step& move : {Step{Deed::kFlush}, Step{Deed::kActivate, 0}}) {
    const std::vector<Steps> threads = {{move}, {{Deed::kPop}}};
    const model::Body body = BodyOf<ModelQueueShape>(both, threads, Judged::kAtTheEnd);
    model::ExpectExhausted(model::Exhaust(Named(TextOf({move}), 2), body), 100);
  }
}

// Two threads that meet, with one preemption; a pop's answer is judged by what is left.
TEST_P(LockfreeHistoryModel, AnyTwoOperationsMayMeet) {
  const Beginning& beginning = Beginnings()[GetParam()];
  const Steps& deeds = beginning.deeds;
  for (size_t i = 0; i < deeds.size(); ++i) {
    for (size_t j = i; j < deeds.size(); ++j) {
      const std::string text = TextOf({deeds[i], deeds[j]});
      const model::Body body =
          BodyOf<ModelQueueShape>(beginning, {{deeds[i]}, {deeds[j]}}, Judged::kAtTheEnd);
      const Report report = model::Exhaust(Named(text, model::PreemptionsOr(1)), body);
      ASSERT_TRUE(report.passed() && report.complete) << beginning.name << ": " << text << "\n"
                                                      << report;
    }
  }
}

// A flush wakes as many as it gives work to.
TEST(LockfreeWakingModel, FlushWakesAllWhoWait) {
  const auto pop = [](ModelScene<ModelQueueShape>& scene) {
    MODEL_CHECK(scene.queue().Pop(std::nullopt).has_value(), "it waits until there is a pod");
  };
  Program<ModelQueueShape> program;
  program.backoff = kBackoff;
  program.before = [](ModelScene<ModelQueueShape>& scene) {
    for (const size_t pod : {size_t{0}, size_t{1}}) {
      scene.Add(pod);
      static_cast<void>(scene.queue().TryPop());
      // By error: what backs off otherwise is popped early, and nobody would wait.
      static_cast<void>(scene.queue().Fail(scene.Key(pod), {}, {}));
    }
    scene.world.now += 2 * kBackoff;
  };
  program.threads = {pop, pop,
                     [](ModelScene<ModelQueueShape>& scene) { scene.queue().FlushBackoff(); }};
  const Report report = model::Sweep(Named("", 0), 3000, BodyOfProgram(program));
  EXPECT_TRUE(report.passed()) << report;
}

// Sleepers are woken by what begins to back off, for they pop it early; so a flush, which gives
// them nothing new, wakes nobody.
void ExpectSleepersPopWhatBacksOff(const std::string& name, bool flushes) {
  const auto pop = [](ModelScene<ModelQueueShape>& scene) {
    MODEL_CHECK(scene.queue().Pop(std::nullopt).has_value(), "it waits until there is a pod");
  };
  Program<ModelQueueShape> program;
  program.backoff = kBackoff;
  program.before = [](ModelScene<ModelQueueShape>& scene) {
    for (const size_t pod : {size_t{0}, size_t{1}}) {
      scene.Add(pod);
      static_cast<void>(scene.queue().TryPop());
      scene.RejectByFilter(scene.Key(pod));
    }
  };
  const auto wake = [flushes](ModelScene<ModelQueueShape>& scene) {
    scene.MakeRoom();
    if (!flushes) return;
    scene.world.now += 2 * kBackoff;
    scene.queue().FlushBackoff();
  };
  program.threads = {pop, pop, wake};
  const model::Body body = BodyOfProgram(program);
  const Report bounded = model::Exhaust(Named(name, 1), body);
  EXPECT_TRUE(bounded.passed() && bounded.complete) << bounded;
  const Report seeded = model::Sweep(Named(name + " by seeds", 0), 2000, body);
  EXPECT_TRUE(seeded.passed()) << seeded;
}
TEST(LockfreeWakingModel, PodsThatBeginToBackOffWakeSleepers) {
  ExpectSleepersPopWhatBacksOff("backs off", /*flushes=*/false);
}
TEST(LockfreeWakingModel, FlushOfWhatBacksOffLeavesNobodyAsleep) {
  ExpectSleepersPopWhatBacksOff("is flushed", /*flushes=*/true);
}

// An event comes between the failing pod's look at the log and its entry into the pool. If its
// thread is frozen there, it has not seen the event; a thread that finds the pod judges it for
// that.
TEST(LockfreeFrozenModel, FailMissesNoEvent) {
  const Steps fail = {{Deed::kFail, 0}};
  ModelScene<IsInterrupted>().Schedule();  // What fills itself at first use.
  const model::Body body = [&](model::Trial& trial) {
    constexpr uint32_t kEventsThread = 3;
    RecordedScene<IsInterrupted> recorded(kEventsThread, Duration(0));
    recorded.Run(0, kBetterInFlight);
    bool has_come = false;
    IsInterrupted::before_move = [&] {
      if (!std::exchange(has_come, true)) recorded.Run(kEventsThread, {{Deed::kEvent}});
    };
    trial.Thread([&] { recorded.Run(1, fail); });
    trial.Thread([&] {
      recorded.Run(2, fail);
      recorded.PopAllAndJudge(2);
    });
    trial.Join();
    IsInterrupted::before_move = [] {};
    recorded.PopAllAndJudge(0);
  };
  model::ExpectNoStall(model::ExhaustStalls(Named("", 0), body), 50);
}

// A thread that has seen a pod in active can pop it, also if the one that moved it has stopped.
TEST(LockfreeFrozenModel, PodThatIsSeenInActiveCanBePopped) {
  ModelScene<ModelQueueShape>().Schedule();  // What fills itself at first use.
  const model::Body body = [](model::Trial& trial) {
    ModelScene<ModelQueueShape> scene;
    trial.Thread([&] { scene.Add(0); });
    trial.Thread([&] {
      if (scene.PlaceOf(0) != Place::kActive) return;
      MODEL_CHECK(scene.queue().TryPop().has_value(), "the pod can be popped");
    });
    trial.Join();
    scene.Judge();
  };
  model::ExpectNoStall(model::ExhaustStalls(Named("", 0), body), 50);
}

void ExpectCaught(const Report& report) {
  EXPECT_TRUE(report.failed_by(FailureKind::kCheck)) << report;
}
TEST(LockfreeHistoryModelCanary, EventAndEmptyPopThatFinishNothingAreCaught) {
  const Steps event = {{Deed::kEvent}};
  ExpectCaught(model::ExhaustStalls(
      Named("", 0), BodyOf<FinishesNothing>({"", kBetterInPool, {}}, {event, event})));
}
TEST(LockfreeHistoryModelCanary, KnownPodThatIsNotFinishedIsCaught) {
  const Steps known = {{Deed::kAdd, 0}};
  ExpectCaught(model::ExhaustStalls(
      Named("", 0), BodyOf<FinishesNoKnownPod>({"", {{Deed::kAdd, 1}}, {}}, {known, known})));
}

}  // namespace
}  // namespace schedq