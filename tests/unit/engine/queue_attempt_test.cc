// docs/semantics.md, "Operations": Add, Pop, Done, Fail, Close, and what an attempt does to a pod.
// Method: every engine in both states of both gates, one sentence of the page a test.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"
#include "hints/plugin.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class QueueAttempt : public QueueTest {
 protected:
  std::vector<Plugin> FitPlugin() const {
    return {HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)}),
            HintPlugin("Quota", {On(Resource::kNode, Action::kUpdateNodeLabel)})};
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueAttempt, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueAttempt, AddSetsTimestampAndFirstAttemptOnce) {
  QueueBench bench(Options(FitPlugin()));
  const Instant added = bench.clock().Now();
  bench.Add(MakePod("pod"));
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_EQ(bench.FieldsOf("pod").timestamp, added);
  EXPECT_EQ(bench.FieldsOf("pod").first_attempt, added);
  const PoppedPod popped = bench.MustPop();
  bench.Advance(seconds(3));
  ASSERT_TRUE(bench.Fail(popped, {"Fit"}).ok());
  bench.Advance(seconds(3));
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_EQ(bench.FieldsOf("pod").first_attempt, added);
}

TEST_P(QueueAttempt, GatedPodHasNoFirstAttemptYet) {
  GatingSwitch gating{.open = false};
  QueueBench bench(Options({GatingPlugin("Gating", &gating)}));
  bench.Add(MakePod("pod"));
  EXPECT_FALSE(bench.FieldsOf("pod").first_attempt.has_value());
}

TEST_P(QueueAttempt, PopCountsAttemptsAndCycles) {
  QueueBench bench(Options(FitPlugin()));
  bench.Add(MakePod("a"));
  bench.Advance(milliseconds(1));
  bench.Add(MakePod("b"));
  const PoppedPod first = bench.MustPop();
  EXPECT_EQ(first.fields.attempts, 1u);
  EXPECT_EQ(first.cycle, 1u);
  EXPECT_EQ(bench.MustPop().cycle, 2u);
  ASSERT_TRUE(bench.Fail(first, {}).ok());
  bench.Advance(seconds(2));
  bench.queue().FlushBackoff();
  const PoppedPod again = bench.MustPop();
  EXPECT_EQ(again.fields.attempts, 2u);
  EXPECT_EQ(bench.queue().SchedulingCycle(), 3u);
}

TEST_P(QueueAttempt, PopTakesFromBackoffOnlyWhenActiveIsEmpty) {
  QueueBench bench(Options(FitPlugin()));
  bench.AddRejected(MakePod("waiting", 1000), {"Fit"});
  Send(bench, Resource::kNode, Action::kAdd);
  bench.Add(MakePod("fresh", -1000));
  EXPECT_EQ(bench.MustPop().pod->name, "fresh");
  EXPECT_EQ(bench.Incoming(Place::kActive, SpecialLabel::kPopFromBackoffQ), 0u);
  if (PopsFromBackoff()) {
    EXPECT_EQ(bench.MustPop().pod->name, "waiting");
    EXPECT_EQ(bench.Incoming(Place::kActive, SpecialLabel::kPopFromBackoffQ), 1u);
  } else {
    EXPECT_FALSE(bench.queue().TryPop().has_value());
  }
}

TEST_P(QueueAttempt, UidInFlightIsDiscardedAndTheNextTaken) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  bench.MustPop();
  bench.Delete(pod);
  bench.Add(pod);  // Anew under the same uid.
  bench.Advance(milliseconds(1));
  bench.Add(MakePod("next"));
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  const PoppedPod popped = bench.MustPop();
  EXPECT_EQ(popped.pod->name, "next");
  EXPECT_EQ(popped.cycle, 2u) << "a discarded entry is no cycle";
  EXPECT_EQ(bench.PlaceOf("pod"), "in-flight");
}

TEST_P(QueueAttempt, DoneEndsInFlightAndUnknownIsNothing) {
  QueueBench bench(Options());
  bench.Add(MakePod("pod"));
  const PoppedPod popped = bench.MustPop();
  bench.queue().Done(PodKey{popped.key.id, popped.key.uid_fingerprint + 1});
  EXPECT_EQ(bench.PlaceOf("pod"), "in-flight");
  bench.queue().Done(popped.key);
  EXPECT_EQ(bench.PlaceOf("pod"), "absent");
  bench.queue().Done(popped.key);
  EXPECT_EQ(bench.queue().Counts().in_flight, 0u);
}

TEST_P(QueueAttempt, DoneDropsEventsThatNoPodNeeds) {
  QueueBench bench(Options(FitPlugin()));
  bench.Add(MakePod("a"));
  bench.Advance(milliseconds(1));
  bench.Add(MakePod("b"));
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.queue().LoggedEvents(), 0u) << "no pod was in flight";
  const PoppedPod a = bench.MustPop();
  Send(bench, Resource::kNode, Action::kAdd);
  const PoppedPod b = bench.MustPop();
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.queue().LoggedEvents(), 2u);
  bench.queue().Done(a.key);
  EXPECT_EQ(bench.queue().LoggedEvents(), 1u) << "b was popped after the first event";
  bench.queue().Done(b.key);
  EXPECT_EQ(bench.queue().LoggedEvents(), 0u);
}

TEST_P(QueueAttempt, FailReplacesRejectorsAndGatingPlugin) {
  QueueBench bench(Options(FitPlugin()));
  bench.AddRejected(MakePod("pod"), {"Fit"}, {"Quota"});
  QueueingFields fields = bench.FieldsOf("pod");
  EXPECT_EQ(fields.unschedulable_plugins, bench.Plugins({"Fit"}));
  EXPECT_EQ(fields.pending_plugins, bench.Plugins({"Quota"}));
  EXPECT_EQ(bench.PlaceOf("pod"), "unschedulable");
}

TEST_P(QueueAttempt, FailCountsRejectionsAndErrorsApart) {
  QueueBench bench(Options(FitPlugin()));
  bench.Add(MakePod("pod"));
  const auto fail = [&](const std::vector<std::string>& plugins) {
    ASSERT_TRUE(bench.Fail(bench.MustPop(), plugins).ok());
    bench.Advance(seconds(20));
    Send(bench, Resource::kNode, Action::kAdd);
    bench.queue().FlushBackoff();
  };
  fail({});
  fail({});
  EXPECT_EQ(bench.FieldsOf("pod").consecutive_errors, 2u);
  EXPECT_EQ(bench.FieldsOf("pod").unschedulable_count, 0u);
  fail({"Fit"});
  EXPECT_EQ(bench.FieldsOf("pod").consecutive_errors, 0u);
  EXPECT_EQ(bench.FieldsOf("pod").unschedulable_count, 1u);
}

TEST_P(QueueAttempt, FailRefreshesTimestampAndUsesTheCurrentVersion) {
  QueueBench bench(Options(FitPlugin()));
  const PodRef before = MakePod("pod");
  bench.Add(before);
  const PoppedPod popped = bench.MustPop();
  const auto after = MakePod("pod", 7);
  bench.Update(before, after);
  bench.Advance(seconds(1));
  ASSERT_TRUE(bench.Fail(popped, {"Fit"}).ok());
  EXPECT_EQ(bench.queue().Where("ns/pod").pod->priority, 7);
  EXPECT_EQ(bench.FieldsOf("pod").timestamp, bench.clock().Now());
}

TEST_P(QueueAttempt, FailOfADeletedPodIsOnlyDone) {
  QueueBench bench(Options(FitPlugin()));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  const PoppedPod popped = bench.MustPop();
  bench.Delete(pod);
  EXPECT_EQ(bench.PlaceOf("pod"), "in-flight") << "deleted in flight stays so";
  EXPECT_TRUE(bench.Fail(popped, {"Fit"}).ok());
  EXPECT_EQ(bench.PlaceOf("pod"), "absent");
}

TEST_P(QueueAttempt, FailOfAPodCreatedAnewIsOnlyDone) {
  QueueBench bench(Options(FitPlugin()));
  const PodRef old_pod = MakePod("pod");
  bench.Add(old_pod);
  const PoppedPod popped = bench.MustPop();
  bench.Delete(old_pod);
  auto anew = MakePod("pod", 3);
  anew->uid = "another-uid";
  bench.Add(anew);
  EXPECT_TRUE(bench.Fail(popped, {"Fit"}).ok());
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_EQ(bench.queue().Counts().in_flight, 0u);
  EXPECT_EQ(bench.MustPop().pod->uid, "another-uid");
}

TEST_P(QueueAttempt, FailOfAQueuedPodIsRefusedAndStillDone) {
  QueueBench bench(Options(FitPlugin()));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  const PoppedPod popped = bench.MustPop();
  bench.Delete(pod);
  bench.Add(pod);
  const Status status = bench.Fail(popped, {"Fit"});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("ns/pod"), std::string::npos);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_EQ(bench.queue().Counts().in_flight, 0u);
}

TEST_P(QueueAttempt, FailWithoutPluginsBacksOffWithoutLookingAtEvents) {
  QueueBench bench(Options(FitPlugin()));
  bench.Add(MakePod("pod"));
  const PoppedPod popped = bench.MustPop();
  ASSERT_TRUE(bench.Fail(popped, {}).ok());
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 14), "error-backoff@");
}

TEST_P(QueueAttempt, FailOfAPodThatIsNotInFlightBacksOffWithoutLooking) {
  QueueBench bench(Options(FitPlugin()));
  bench.Add(MakePod("pod"));
  const PoppedPod popped = bench.MustPop();
  bench.queue().Done(popped.key);
  ASSERT_TRUE(bench.Fail(popped, {"Fit"}).ok());
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 8), "backoff@");
}

TEST_P(QueueAttempt, EventBetweenPopAndFailWakesThePod) {
  QueueBench bench(Options(FitPlugin()));
  bench.Add(MakePod("pod"));
  const PoppedPod popped = bench.MustPop();
  Send(bench, Resource::kNode, Action::kAdd);
  ASSERT_TRUE(bench.Fail(popped, {"Fit"}).ok());
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 8), "backoff@");
  EXPECT_EQ(bench.Incoming(Place::kBackoff, SpecialLabel::kScheduleAttemptFailure), 1u);
}

TEST_P(QueueAttempt, EventBeforePopDoesNotWakeThePod) {
  QueueBench bench(Options(FitPlugin()));
  bench.Add(MakePod("other"));
  bench.MustPop();  // A pod is in flight, so the event is logged.
  bench.Add(MakePod("pod"));
  Send(bench, Resource::kNode, Action::kAdd);
  ASSERT_TRUE(bench.Fail(bench.MustPop(), {"Fit"}).ok());
  EXPECT_EQ(bench.PlaceOf("pod"), "unschedulable");
}

TEST_P(QueueAttempt, BestVerdictOverLoggedEventsWins) {
  QueueBench bench(Options(FitPlugin()));
  bench.Add(MakePod("pod"));
  const PoppedPod popped = bench.MustPop();
  Send(bench, Resource::kNode, Action::kAdd);              // Fit is unschedulable: after backoff.
  Send(bench, Resource::kNode, Action::kUpdateNodeLabel);  // Quota is pending: immediately.
  ASSERT_TRUE(bench.Fail(popped, {"Fit"}, {"Quota"}).ok());
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
}

// Runs `act` while a Pop of at most `timeout` most probably waits. Returns what was popped, and how
// long it took: a Pop that is not woken still finds what is there at its deadline.
std::pair<std::optional<PoppedPod>, Duration> PopWhile(QueueBench& bench, Duration timeout,
                                                       const std::function<void()>& act) {
  std::optional<PoppedPod> popped;
  const auto started = std::chrono::steady_clock::now();
  std::thread popper([&] { popped = bench.queue().Pop(timeout); });
  std::this_thread::sleep_for(milliseconds(20));
  act();
  popper.join();
  return {popped, std::chrono::steady_clock::now() - started};
}

TEST_P(QueueAttempt, PopBlocksUntilAPodComes) {
  QueueBench bench(Options());
  const auto [popped, took] = PopWhile(bench, seconds(20), [&] { bench.Add(MakePod("pod")); });
  ASSERT_TRUE(popped.has_value());
  EXPECT_EQ(popped->pod->name, "pod");
  EXPECT_LT(took, seconds(10)) << "the waiting Pop was not woken";
}

TEST_P(QueueAttempt, WaitingPopWakesForBackoffOnlyWithTheGateOn) {
  QueueBench bench(Options(FitPlugin()));
  bench.AddRejected(MakePod("pod"), {"Fit"});
  const Duration timeout = PopsFromBackoff() ? Duration(seconds(20)) : milliseconds(50);
  const auto [popped, took] =
      PopWhile(bench, timeout, [&] { Send(bench, Resource::kNode, Action::kAdd); });
  EXPECT_EQ(popped.has_value(), PopsFromBackoff());
  EXPECT_LT(took, seconds(10)) << "the waiting Pop was not woken";
}

// A deadline beyond the clock's last instant once lay in the past, and the Pop returned at once.
TEST_P(QueueAttempt, PopWithTheLongestTimeoutWaits) {
  QueueBench bench(Options());
  const auto [popped, took] = PopWhile(bench, Duration::max(), [&] { bench.Add(MakePod("pod")); });
  EXPECT_TRUE(popped.has_value()) << "it returned before a pod came, after " << took.count()
                                  << " ns";
}

TEST_P(QueueAttempt, PopTimesOut) {
  QueueBench bench(Options());
  const auto started = std::chrono::steady_clock::now();
  EXPECT_FALSE(bench.queue().Pop(milliseconds(20)).has_value());
  EXPECT_GE(std::chrono::steady_clock::now() - started, milliseconds(20));
}

TEST_P(QueueAttempt, CloseWakesEveryBlockedPop) {
  QueueBench bench(Options());
  std::atomic<int> empty = 0;
  std::vector<std::thread> poppers;
  for (int i = 0; i < 4; ++i) {
    poppers.emplace_back([&] { empty += bench.queue().Pop(std::nullopt).has_value() ? 0 : 1; });
  }
  std::this_thread::sleep_for(milliseconds(20));  // Most of them sleep by now; none must need to.
  bench.queue().Close();
  for (std::thread& popper : poppers) popper.join();
  EXPECT_EQ(empty, 4);
}

TEST_P(QueueAttempt, CloseEndsInFlightAndLeavesTheQueueToDrain) {
  QueueBench bench(Options());
  bench.Add(MakePod("a"));
  bench.Advance(milliseconds(1));
  bench.Add(MakePod("b"));
  bench.MustPop();
  bench.queue().Close();
  EXPECT_EQ(bench.queue().Counts().in_flight, 0u);
  EXPECT_EQ(bench.queue().Pop(std::nullopt)->pod->name, "b");
  EXPECT_FALSE(bench.queue().Pop(std::nullopt).has_value());
}

}  // namespace
}  // namespace schedq
