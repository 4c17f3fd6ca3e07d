// docs/semantics.md, "Update", "Delete", "Activate", "Nominate".
// Method: every engine in both states of both gates, one sentence of the page a test.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/pod.h"
#include "engine/pod_events.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<std::string> EventLabels(const Pod& before, const Pod& after) {
  std::vector<std::string> labels;
  for (const ClusterEvent& event : PodUpdateEvents(before, after)) {
    labels.emplace_back(LabelText(event.label));
  }
  return labels;
}

TEST(PodUpdateEvents, AreInTheStatedOrder) {
  Pod before;
  before.scheduling_gates = {"gate"};
  before.requests = {{"cpu", 100}, {"memory", 5}};
  Pod after;
  after.labels = {{"a", "b"}};
  after.requests = {{"cpu", 200}};
  after.tolerations.resize(1);
  after.generated_claims.resize(1);
  const std::vector<std::string> expected = {
      "TargetPodUpdatePodLabel",      "TargetPodUpdatePodScaleDown",
      "TargetPodUpdatePodScaleUp",    "TargetPodUpdatePodSchedulingGatesEliminated",
      "TargetPodUpdatePodToleration", "TargetPodUpdatePodGeneratedResourceClaim"};
  EXPECT_EQ(EventLabels(before, after), expected);
}

TEST(PodUpdateEvents, NothingSpecificIsTheGeneralUpdate) {
  EXPECT_EQ(EventLabels(Pod(), Pod()), std::vector<std::string>{"TargetPodUpdate"});
}

TEST(PodUpdateEvents, OneOfTwoGatesGoneIsNotEliminated) {
  Pod before;
  before.scheduling_gates = {"a", "b"};
  Pod after;
  after.scheduling_gates = {"a"};
  EXPECT_EQ(EventLabels(before, after), std::vector<std::string>{"TargetPodUpdate"});
}

TEST(PodUpdateEvents, AnotherTolerationIsNoTolerationEvent) {
  Pod before;
  before.tolerations.resize(1);
  Pod after = before;
  after.tolerations[0].key = "another";
  EXPECT_EQ(EventLabels(before, after), std::vector<std::string>{"TargetPodUpdate"});
}

class QueueUpdate : public QueueTest {
 protected:
  std::vector<Plugin> Plugins() const {
    return {HintPlugin("Labels", {On(Resource::kTargetPod, Action::kUpdatePodLabel),
                                  On(Resource::kNode, Action::kAdd)}),
            HintPlugin("Tolerations", {On(Resource::kPod, Action::kUpdatePodToleration)}),
            HintPlugin("Skips", {On(Resource::kPod, Action::kUpdate, Hint::kSkip)})};
  }
  static std::shared_ptr<Pod> Labelled(const std::string& name, int32_t priority = 0) {
    auto pod = MakePod(name, priority);
    pod->labels = {{"new", "label"}};
    return pod;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueUpdate, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueUpdate, InActiveIsInPlaceAndSortedAgain) {
  QueueBench bench(Options(Plugins()));
  const PodRef low = MakePod("low", 1);
  bench.Add(low);
  bench.Advance(milliseconds(1));
  bench.Add(MakePod("middle", 5));
  bench.Update(low, MakePod("low", 9));
  EXPECT_EQ(bench.Incoming(Place::kActive, UnscheduledPodAddLabel()), 2u);
  EXPECT_EQ(bench.MustPop().pod->priority, 9);
}

TEST_P(QueueUpdate, InBackoffIsInPlaceAndSortedAgain) {
  QueueBench bench(Options(Plugins()));
  bench.Advance(milliseconds(700));
  const PodRef low = MakePod("low", 1);
  bench.AddRejected(low, {"Labels"});
  bench.Advance(milliseconds(1));
  bench.AddRejected(MakePod("middle", 5), {"Labels"});
  Send(bench, Resource::kNode, Action::kAdd);
  bench.Update(low, MakePod("low", 9));
  EXPECT_EQ(bench.Incoming(Place::kBackoff, MakeEvent(Resource::kNode, Action::kAdd).label), 2u);
  if (PopsFromBackoff()) {
    EXPECT_EQ(bench.MustPop().pod->priority, 9);
  }
  bench.Advance(seconds(3));
  bench.queue().FlushBackoff();
  EXPECT_EQ(bench.MustPop().pod->priority, PopsFromBackoff() ? 5 : 9);
}

TEST_P(QueueUpdate, InThePoolIsJudgedForEachEvent) {
  QueueBench bench(Options(Plugins()));
  const PodRef pod = MakePod("pod");
  bench.AddRejected(pod, {"Tolerations"});
  const auto labelled = Labelled("pod");
  bench.Update(pod, labelled);
  EXPECT_EQ(bench.PlaceOf("pod"), "unschedulable") << "labels do not interest the rejector";
  auto tolerant = std::make_shared<Pod>(*labelled);
  tolerant->tolerations.resize(1);
  tolerant->labels.clear();
  bench.Update(labelled, tolerant);
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 8), "backoff@");
}

TEST_P(QueueUpdate, StopsOnceThePodHasLeftThePool) {
  QueueBench bench(Options(Plugins()));
  const PodRef pod = MakePod("pod");
  bench.AddRejected(pod, {"Labels"}, {"Tolerations"});
  auto changed = Labelled("pod");
  changed->tolerations.resize(1);
  // Labels come first and make it after-backoff; Tolerations, pending, would make it immediately.
  bench.Update(pod, changed);
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 8), "backoff@");
}

TEST_P(QueueUpdate, StopsOnceThePodIsActive) {
  QueueBench bench(Options(Plugins()));
  const PodRef pod = MakePod("pod");
  bench.AddRejected(pod, {"Tolerations"}, {"Labels"});
  auto changed = Labelled("pod");
  changed->tolerations.resize(1);
  bench.Update(pod, changed);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_EQ(bench.queue().Counts(), QueueCounts{.active = 1});
  const auto label = MakeEvent(Resource::kTargetPod, Action::kUpdatePodToleration).label;
  EXPECT_EQ(bench.Incoming(Place::kActive, label), 0u) << "it was not judged again";
  EXPECT_EQ(bench.Incoming(Place::kBackoff, label), 0u);
}

TEST_P(QueueUpdate, OfAGatedPodThatStaysGatedCountsNothing) {
  GatingSwitch gating{.open = false};
  QueueBench bench(
      Options({GatingPlugin("Gating", &gating, {On(Resource::kPod, Action::kUpdate)})}));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  const ClusterEvent labels = MakeEvent(Resource::kTargetPod, Action::kUpdatePodLabel);
  const auto labelled = Labelled("pod");
  bench.Update(pod, labelled);
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:Gating");
  EXPECT_EQ(bench.Incoming(Place::kUnschedulable, labels.label), 0u);
  gating.open = true;
  bench.Update(labelled, MakePod("pod"));
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_EQ(bench.Incoming(Place::kActive, labels.label), 1u);
}

TEST_P(QueueUpdate, InFlightLogsItsEventsForEverybody) {
  QueueBench bench(Options(Plugins()));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  const PoppedPod popped = bench.MustPop();
  bench.Advance(milliseconds(1));
  bench.Add(MakePod("other"));
  const PoppedPod other = bench.MustPop();
  bench.Update(pod, Labelled("pod"));
  EXPECT_EQ(bench.PlaceOf("pod"), "in-flight");
  EXPECT_EQ(bench.queue().LoggedEvents(), 1u);
  ASSERT_TRUE(bench.Fail(popped, {"Labels"}).ok());
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 8), "backoff@");
  ASSERT_TRUE(bench.Fail(other, {"Labels"}).ok());
  EXPECT_EQ(bench.PlaceOf("other").substr(0, 8), "backoff@");
}

TEST_P(QueueUpdate, OfAPodThatIsNowhereAddsIt) {
  QueueBench bench(Options());
  bench.Update(MakePod("pod"), MakePod("pod", 2));
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_EQ(bench.Incoming(Place::kActive, UnscheduledPodAddLabel()), 1u);
}

TEST_P(QueueUpdate, AddOfALivePodIsAnUpdate) {
  QueueBench bench(Options());
  bench.Add(MakePod("pod", 1));
  bench.Add(MakePod("pod", 2));
  EXPECT_EQ(bench.queue().Counts().active, 1u);
  EXPECT_EQ(bench.MustPop().pod->priority, 2);
}

TEST_P(QueueUpdate, AddUnderAnotherUidReplacesThePod) {
  QueueBench bench(Options());
  bench.Add(MakePod("pod", 1));
  auto anew = MakePod("pod", 2);
  anew->uid = "another-uid";
  bench.Add(anew);
  EXPECT_EQ(bench.queue().Counts().active, 1u);
  EXPECT_EQ(bench.MustPop().pod->uid, "another-uid");
}

TEST_P(QueueUpdate, DeleteLeavesWhateverQueueThePodIsIn) {
  GatingSwitch gating;
  std::vector<Plugin> plugins = Plugins();
  plugins.push_back(GatingPlugin("Gating", &gating));
  QueueBench bench(Options(std::move(plugins)));
  bench.AddRejected(MakePod("backoff"), {"Labels"});
  Send(bench, Resource::kNode, Action::kAdd);
  bench.Add(MakePod("active"));
  const PoppedPod pool = bench.MustPop();
  ASSERT_TRUE(bench.Fail(pool, {"Skips"}).ok());
  bench.Add(MakePod("again"));
  gating.open = false;
  bench.Add(MakePod("gated"));
  for (const char* name : {"backoff", "active", "again", "gated"}) bench.Delete(MakePod(name));
  EXPECT_EQ(bench.queue().Counts(), QueueCounts());
  EXPECT_FALSE(bench.queue().TryPop().has_value());
  EXPECT_EQ(bench.pod_names().size(), 0u) << "names of pods that are gone are given back";
}

TEST_P(QueueUpdate, ActivateTakesFromThePoolAndFromBackoff) {
  QueueBench bench(Options(Plugins()));
  const PodRef pooled = MakePod("pooled");
  const PodRef backing_off = MakePod("backing-off");
  bench.AddRejected(backing_off, {"Labels"});
  Send(bench, Resource::kNode, Action::kAdd);
  ASSERT_EQ(bench.PlaceOf("backing-off").substr(0, 8), "backoff@");
  auto urgent = MakePod("pooled", 5);
  bench.AddRejected(urgent, {"Skips"});
  bench.queue().Activate(std::vector<PodRef>{urgent, backing_off});
  EXPECT_EQ(bench.PlaceOf("pooled"), "active");
  EXPECT_EQ(bench.PlaceOf("backing-off"), "active");
  EXPECT_EQ(bench.Incoming(Place::kActive, SpecialLabel::kForceActivate), 2u);
}

TEST_P(QueueUpdate, ActivateInFlightReachesThatPodOnly) {
  QueueBench bench(Options(Plugins()));
  const PodRef meant = MakePod("meant");
  bench.Add(meant);
  const PoppedPod popped = bench.MustPop();
  bench.Advance(milliseconds(1));
  bench.Add(MakePod("other"));
  const PoppedPod other = bench.MustPop();
  bench.queue().Activate(std::vector<PodRef>{meant});
  EXPECT_EQ(bench.queue().LoggedEvents(), 1u);
  ASSERT_TRUE(bench.Fail(popped, {"Skips"}).ok());
  EXPECT_EQ(bench.PlaceOf("meant").substr(0, 8), "backoff@");
  ASSERT_TRUE(bench.Fail(other, {"Skips"}).ok());
  EXPECT_EQ(bench.PlaceOf("other"), "unschedulable");
}

TEST_P(QueueUpdate, ActivateOfActiveOrUnknownIsNothing) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  bench.queue().Activate(std::vector<PodRef>{pod, MakePod("unknown")});
  EXPECT_EQ(bench.Incoming(Place::kActive, SpecialLabel::kForceActivate), 0u);
  EXPECT_EQ(bench.queue().LoggedEvents(), 0u);
}

class QueueNomination : public QueueTest {
 protected:
  static std::shared_ptr<Pod> Nominated(const std::string& name, const std::string& node) {
    auto pod = MakePod(name);
    pod->nominated_node_name = node;
    return pod;
  }
  static std::vector<std::string> On(QueueBench& bench, const std::string& node) {
    std::vector<std::string> names;
    for (const PodRef& pod : bench.queue().NominatedPods(node)) names.push_back(pod->name);
    std::sort(names.begin(), names.end());
    return names;
  }
  using Names = std::vector<std::string>;
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueNomination, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueNomination, AddRecordsTheNominationEvenOfAGatedPod) {
  GatingSwitch gating{.open = false};
  QueueBench bench(Options({GatingPlugin("Gating", &gating)}));
  bench.Add(Nominated("pod", "node-1"));
  EXPECT_EQ(On(bench, "node-1"), Names{"pod"});
}

TEST_P(QueueNomination, ReplacesTheOldOneAndEmptyClears) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  MustSucceed(bench.queue().Nominate(pod, "node-1"));
  MustSucceed(bench.queue().Nominate(pod, "node-2"));
  EXPECT_EQ(On(bench, "node-1"), Names{});
  EXPECT_EQ(On(bench, "node-2"), Names{"pod"});
  MustSucceed(bench.queue().Nominate(pod, ""));
  EXPECT_EQ(On(bench, "node-2"), Names{});
}

TEST_P(QueueNomination, OfAPodThatIsNotLiveIsRefused) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  const PoppedPod popped = bench.MustPop();
  bench.Delete(pod);
  MustSucceed(bench.queue().Nominate(pod, "node-1"));
  EXPECT_EQ(On(bench, "node-1"), Names{});
  MustSucceed(bench.queue().Nominate(MakePod("unknown"), "node-1"));
  EXPECT_EQ(On(bench, "node-1"), Names{});
}

TEST_P(QueueNomination, IsKeptOverAnUpdateThatCarriesNone) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  MustSucceed(bench.queue().Nominate(pod, "node-1"));
  bench.Update(pod, MakePod("pod", 4));
  EXPECT_EQ(On(bench, "node-1"), Names{"pod"});
}

TEST_P(QueueNomination, OfEitherVersionReplacesWhatIsInMemory) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  MustSucceed(bench.queue().Nominate(pod, "node-1"));
  const PodRef with = Nominated("pod", "node-2");
  bench.Update(pod, with);
  EXPECT_EQ(On(bench, "node-1"), Names{});
  EXPECT_EQ(On(bench, "node-2"), Names{"pod"});
  bench.Update(with, MakePod("pod"));
  EXPECT_EQ(On(bench, "node-2"), Names{});
}

TEST_P(QueueNomination, UpdateInFlightAndFailLeaveItAlone) {
  QueueBench bench(Options({HintPlugin("Fit", {})}));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  const PoppedPod popped = bench.MustPop();
  MustSucceed(bench.queue().Nominate(pod, "node-1"));
  bench.Update(pod, Nominated("pod", "node-2"));
  EXPECT_EQ(On(bench, "node-1"), Names{"pod"});
  ASSERT_TRUE(bench.Fail(popped, {"Fit"}).ok());
  EXPECT_EQ(On(bench, "node-1"), Names{"pod"});
}

TEST_P(QueueNomination, DeleteClears) {
  QueueBench bench(Options());
  const PodRef pod = Nominated("pod", "node-1");
  bench.Add(pod);
  EXPECT_EQ(bench.queue().NominatedNode(bench.queue().KeyOf(*pod)), "node-1");
  bench.Delete(pod);
  EXPECT_EQ(On(bench, "node-1"), Names{});
}

}  // namespace
}  // namespace schedq
