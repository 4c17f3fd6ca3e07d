// docs/semantics.md, "Pod groups": what the recordings do not show, because upstream does otherwise
// or leaves it to chance, and what counts say of groups.
// Method: every engine in both states of both gates, one sentence of the page a test.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"
#include "hints/plugin.h"
#include "tests/support/queue/group_cases.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

INSTANTIATE_TEST_SUITE_P(Engines, QueueGroupsTest, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueGroupsTest, AGroupAndACompositeOfOneNameAreTwoThings) {
  QueueBench bench = Bench({}, true);
  bench.assembled().GroupAdded(Composite("x"));
  bench.assembled().GroupAdded(Group("x"));
  bench.assembled().GroupAdded(Group("below", "x"));
  bench.Add(Member("single", "x"));
  bench.Add(Member("tree", "below"));
  EXPECT_EQ(NamesIn(bench.MustPop()), Names{"single"});
  const PoppedPod tree = bench.MustPop();
  EXPECT_EQ(NamesIn(tree), Names{"tree"});
  EXPECT_EQ(tree.group->root.kind, GroupKind::kComposite);
  bench.assembled().GroupDeleted(Group("x")->key);
  EXPECT_EQ(bench.PlaceOf("tree"), "in-flight");
}

TEST_P(QueueGroupsTest, AWayThatGoesRoundInACircleHasNoRoot) {
  QueueBench bench = Bench({}, true);
  bench.assembled().GroupAdded(Group("g", "a"));
  bench.assembled().GroupAdded(Composite("a", "b"));
  bench.assembled().GroupAdded(Composite("b", "c"));
  bench.assembled().GroupAdded(Composite("c", "b"));
  bench.Add(Member("m", "g"));
  EXPECT_EQ(bench.PlaceOf("m"), "incomplete");
  bench.assembled().GroupDeleted(Composite("c")->key);
  bench.assembled().GroupAdded(Composite("c"));
  EXPECT_EQ(bench.PlaceOf("m"), "active");
}

TEST_P(QueueGroupsTest, ASinglePodThatFailsLeavesTheCyclesOfGroupsAlone) {
  QueueBench bench = Bench();
  bench.assembled().GroupAdded(Group("g", "", 1));
  bench.Add(Member("a", "g"));
  bench.Add(Member("b", "g"));
  bench.Add(MakePod("single"));
  const PoppedPod group = bench.MustPop();
  ASSERT_EQ(NamesIn(group), (Names{"a", "b"}));
  MustSucceed(bench.Fail(group.group->members[0], {}));
  const PoppedPod single = bench.MustPop();
  ASSERT_EQ(NamesIn(single), Names{"single"});
  MustSucceed(bench.Fail(single, {}));
  MustSucceed(bench.Fail(group.group->members[1], {}));
  EXPECT_EQ(bench.PlaceOf("a"), "pending");
  EXPECT_EQ(bench.PlaceOf("b"), "pending");
  bench.queue().GroupDone(group.group->root, GroupStatus::kUnschedulable);
  EXPECT_EQ(bench.PlaceOf("a").substr(0, 13), "error-backoff");
  EXPECT_EQ(bench.PlaceOf("a"), bench.PlaceOf("b"));
}

TEST_P(QueueGroupsTest, NarrowingHidesNoGroupWithAMemberWithoutRejectors) {
  GatingSwitch gating;
  EventRegistration narrowed = On(Resource::kNode, Action::kAdd, Hint::kSkip);
  narrowed.pre_hint = [](const ObjectChange&, PodList*) { return PreHint::kListed; };
  QueueBench bench = Bench({GatingPlugin("Gate", &gating, {narrowed})});
  bench.assembled().GroupAdded(Group("g"));
  gating.open = false;
  bench.Add(Member("rejected", "g"));
  ASSERT_EQ(bench.PlaceOf("rejected"), "gated:Gate");
  auto node = std::make_shared<ObjectView>();
  node->resource = Resource::kNode;
  node->name = "n";
  const auto send = [&] {
    bench.queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {nullptr, node});
  };
  gating.open = true;
  send();
  EXPECT_EQ(bench.PlaceOf("rejected"), "gated:Gate") << "each member was rejected, the hint skips";
  // Nobody asks a member that joins a gated group: it has no rejectors.
  bench.Add(Member("fresh", "g"));
  EXPECT_EQ(bench.PlaceOf("fresh"), "gated:Gate");
  send();
  EXPECT_EQ(bench.PlaceOf("rejected"), "active");
  EXPECT_EQ(bench.PlaceOf("fresh"), "active");
}

TEST_P(QueueGroupsTest, GroupsAreOneEntityAndMembersArePods) {
  QueueBench bench = Bench();
  const auto gauge = [&](const std::string& queue, const std::string& type) {
    return bench.metrics().Value("scheduler_queued_entities", {queue, type}).value_or(-1);
  };
  const auto pending = [&](const std::string& queue) {
    return bench.metrics().Value("scheduler_pending_pods", {queue}).value_or(-1);
  };
  bench.Add(Member("early", "g"));
  EXPECT_EQ(pending("incomplete"), 1);
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("late", "g"));
  bench.Add(MakePod("single"));
  EXPECT_EQ(pending("active"), 3);
  EXPECT_EQ(gauge("active", "pod"), 1);
  EXPECT_EQ(gauge("active", "podgroup"), 1);
  const EventLabel label = UnscheduledPodAddLabel();
  // early, then early and late again, then single.
  EXPECT_EQ(bench.Incoming(Place::kActive, label), 4u);
  const QueueMetrics& metrics = bench.queue().Metrics();
  EXPECT_EQ(metrics.IncomingEntitiesTotal(Place::kActive, label, EntityType::kPodGroup), 1u)
      << "a join sends the group where it was";
  EXPECT_EQ(metrics.IncomingEntitiesTotal(Place::kActive, label, EntityType::kPod), 1u);

  const PoppedPod group = bench.MustPop();
  ASSERT_EQ(NamesIn(group), (Names{"early", "late"}));
  MustSucceed(bench.Fail(group.group->members[0], {}));
  EXPECT_EQ(pending("pending"), 1);
  EXPECT_EQ(pending("active"), 1);
  EXPECT_EQ(bench.queue().Counts().in_flight, 1u);
  bench.queue().GroupDone(group.group->root, GroupStatus::kError);
  EXPECT_EQ(pending("backoff"), 1);
  EXPECT_EQ(gauge("backoff", "podgroup"), 1);
  EXPECT_EQ(bench.queue().List(Place::kErrorBackoff).size(), 1u);
}

TEST_P(QueueGroupsTest, AnotherUidOfAMembersNameReplacesIt) {
  QueueBench bench = Bench();
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("m", "g"));
  const PoppedPod popped = bench.MustPop();
  auto anew = std::make_shared<Pod>(*Member("m", "g"));
  anew->uid = "another";
  bench.Add(anew);
  EXPECT_EQ(bench.PlaceOf("m"), "pending");
  MustSucceed(bench.Fail(popped.group->members[0], {}));
  bench.queue().GroupDone(popped.group->root, GroupStatus::kSuccess);
  const PoppedPod again = bench.MustPop();
  ASSERT_EQ(NamesIn(again), Names{"m"});
  EXPECT_EQ(again.group->members[0].pod->uid, "another");
  EXPECT_EQ(again.group->members[0].fields.attempts, 1u);
}

TEST_P(QueueGroupsTest, APodMayLeaveAndComeBackAsAMember) {
  QueueBench bench = Bench();
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(MakePod("p"));
  auto member = std::make_shared<Pod>(*Member("p", "g"));
  member->uid = "member";
  bench.Add(member);
  EXPECT_EQ(bench.queue().Counts().active, 1u);
  const PoppedPod popped = bench.MustPop();
  ASSERT_NE(popped.group, nullptr);
  EXPECT_FALSE(bench.queue().TryPop().has_value());
}

// The random driver found that the member hid it.
TEST_P(QueueGroupsTest, ASinglePodIsShownBesideTheMemberOfItsNameInFlight) {
  QueueBench bench = Bench();
  bench.assembled().GroupAdded(Group("g"));
  const PodRef member = Member("a", "g");
  bench.Add(member);
  const PoppedPod popped = bench.MustPop();
  bench.Delete(member);
  EXPECT_EQ(bench.PlaceOf("a"), "in-flight");
  const std::shared_ptr<Pod> single = MakePod("a");
  single->uid = "another";
  bench.Add(single);
  EXPECT_EQ(bench.PlaceOf("a"), "active");
  EXPECT_EQ(bench.queue().Where("ns/a").pod->uid, "another");
  MustSucceed(bench.Fail(popped.group->members[0], {}));
  bench.queue().GroupDone(popped.group->root, GroupStatus::kError);
  EXPECT_EQ(bench.PlaceOf("a"), "active");
}

TEST_P(QueueGroupsTest, AMemberIsShownBesideTheSinglePodOfItsNameInFlight) {
  QueueBench bench = Bench();
  bench.assembled().GroupAdded(Group("g"));
  const std::shared_ptr<Pod> single = MakePod("a");
  single->uid = "another";
  bench.Add(single);
  const PoppedPod popped = bench.MustPop();
  bench.Delete(single);
  bench.Add(Member("a", "g"));
  EXPECT_EQ(bench.PlaceOf("a"), "active");
  EXPECT_EQ(bench.queue().Where("ns/a").pod->uid, "uid-a");
  MustSucceed(bench.Fail(popped, {}));
  EXPECT_EQ(bench.PlaceOf("a"), "active");
}

TEST_P(QueueGroupsTest, GroupDoneWithoutACycleDoesNothing) {
  QueueBench bench = Bench();
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("a", "g"));
  bench.queue().GroupDone(Group("g")->key, GroupStatus::kError);
  bench.queue().GroupDone(Group("nobody")->key, GroupStatus::kError);
  EXPECT_EQ(bench.PlaceOf("a"), "active");
}

TEST_P(QueueGroupsTest, AMemberMayLeaveAndComeBackAsAPodOfItsOwn) {
  QueueBench bench = Bench();
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("p", "g"));
  std::shared_ptr<Pod> single = MakePod("p");
  single->uid = "single";
  MustSucceed(bench.queue().Add(single));
  EXPECT_EQ(bench.queue().Counts().active, 1u);
  EXPECT_EQ(bench.MustPop().group, nullptr);
  EXPECT_FALSE(bench.queue().TryPop().has_value());
}

TEST_P(QueueGroupsTest, ThreeIncarnationsOfAMemberEndInAnyOrder) {
  for (const size_t last : {size_t{0}, size_t{1}}) {
    QueueBench bench = Bench();
    bench.assembled().GroupAdded(Group("g"));
    std::vector<PodKey> popped;
    for (const char* uid : {"first", "second"}) {
      auto pod = std::make_shared<Pod>(*Member("m", "g"));
      pod->uid = uid;
      bench.Add(pod);
      const PoppedPod group = bench.MustPop();
      popped.push_back(group.group->members[0].key);
      bench.queue().GroupDone(group.group->root, GroupStatus::kSuccess);
    }
    bench.Add(Member("m", "g"));
    bench.queue().Done(popped[last]);
    EXPECT_EQ(bench.queue().Counts().in_flight, 1u);
    bench.queue().Done(popped[1 - last]);
    EXPECT_EQ(bench.queue().Counts().in_flight, 0u);
    EXPECT_EQ(NamesIn(bench.MustPop()), Names{"m"});
  }
}

// What may not change has changed: the object, or the pod, is another one.
TEST_P(QueueGroupsTest, AnotherParentOrGroupMovesMembersThere) {
  QueueBench bench = Bench({}, true);
  bench.assembled().GroupAdded(Composite("a"));
  bench.assembled().GroupAdded(Composite("b"));
  bench.assembled().GroupAdded(Group("g", "a"));
  bench.assembled().GroupAdded(Group("other"));
  bench.Add(Member("m", "g"));
  bench.Add(Member("n", "g"));
  bench.assembled().GroupUpdated(Group("g", "b"));
  bench.assembled().GroupDeleted(Composite("a")->key);
  EXPECT_EQ(bench.PlaceOf("m"), "active");
  bench.Update(Member("n", "g"), Member("n", "other"));
  const PoppedPod first = bench.MustPop();
  const PoppedPod second = bench.MustPop();
  const bool is_m_first = NamesIn(first) == Names{"m"};
  EXPECT_EQ((is_m_first ? first : second).group->root.name, "b");
  EXPECT_EQ((is_m_first ? second : first).group->root.name, "other");
  EXPECT_EQ(NamesIn(is_m_first ? second : first), Names{"n"});
}

TEST_P(QueueGroupsTest, AClosedQueueEndsTheAttemptsOfMembers) {
  QueueBench bench = Bench();
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("a", "g"));
  bench.Add(Member("b", "g"));
  bench.MustPop();
  ASSERT_EQ(bench.queue().Counts().in_flight, 2u);
  bench.queue().Close();
  EXPECT_EQ(bench.queue().Counts().in_flight, 0u);
}

TEST_P(QueueGroupsTest, MembersAreNominatedAsPodsAre) {
  QueueBench bench = Bench();
  bench.assembled().GroupAdded(Group("g"));
  const PodRef member = Member("a", "g");
  bench.Add(member);
  MustSucceed(bench.queue().Nominate(member, "node"));
  ASSERT_EQ(bench.queue().NominatedPods("node").size(), 1u);
  EXPECT_EQ(bench.queue().NominatedNode(bench.queue().KeyOf(*member)), "node");
  bench.Delete(member);
  EXPECT_TRUE(bench.queue().NominatedPods("node").empty());
  EXPECT_EQ(bench.queue().NominatedNode(bench.queue().KeyOf(*member)), "");
}

TEST_P(QueueGroupsTest, NamesOfGroupsThatAreTooLongAreRefused) {
  QueueBench bench = Bench({}, true);
  const std::string endless(size_t{16} << 20, 'g');
  bench.queue().GroupAdd(Group(endless));
  bench.queue().GroupAdd(Group("g", endless));
  const Status added = bench.queue().Add(Member("m", endless));
  ASSERT_FALSE(added.ok());
  EXPECT_NE(added.error().message().find("its group's name has"), std::string::npos);
  EXPECT_EQ(bench.queue().Counts(), QueueCounts());
}

TEST_P(QueueGroupsTest, AFullQueueRefusesMembersToo) {
  QueueBenchOptions options = Options();
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  options.gates = *Gates::Resolve(request);
  options.pods_max = 2;
  QueueBench bench(std::move(options));
  bench.queue().GroupAdd(Group("g"));
  MustSucceed(bench.queue().Add(Member("a", "g")));
  MustSucceed(bench.queue().Add(Member("b", "g")));
  EXPECT_FALSE(bench.queue().Add(Member("c", "g")).ok());
  MustSucceed(bench.queue().Add(Member("b", "g")));
  bench.Delete(Member("a", "g"));
  MustSucceed(bench.queue().Add(Member("c", "g")));
}

TEST_P(QueueGroupsTest, WithTheGateOffNothingIsKnownOfGroups) {
  QueueBench bench(Options());
  bench.queue().GroupAdd(Group("g"));
  bench.Add(Member("a", "g"));
  bench.Add(Member("b", "g"));
  EXPECT_EQ(NamesIn(bench.MustPop()), Names{"a"});
  EXPECT_EQ(NamesIn(bench.MustPop()), Names{"b"});
  EXPECT_FALSE(bench.metrics().Value("scheduler_queued_entities", {"active", "pod"}).has_value());
}

}  // namespace
}  // namespace schedq
