// docs/semantics.md, "Pod groups": what no recording shows. Names that a member and a single pod,
// or a group and a composite, have in common; a single pod that fails inside a group's cycle; what
// narrowing must not hide; gauges; trees that lead nowhere.
// Method: every engine in both states of both gates.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

class QueueGroups : public QueueTest {
 protected:
  QueueBenchOptions WithGroups(std::vector<Plugin> plugins = {}, bool has_composites = false) {
    QueueBenchOptions options = Options(std::move(plugins));
    GateRequest request;
    request.Set(Gate::kSchedulerPopFromBackoffQ, GetParam().pops_from_backoff);
    request.Set(Gate::kSchedulerPreQueueingHints, GetParam().narrows);
    request.Set(Gate::kGenericWorkload, true);
    request.Set(Gate::kCompositePodGroup, has_composites);
    options.gates = *Gates::Resolve(request);
    return options;
  }
  static PodRef Member(const std::string& name, const std::string& group = "g",
                       const std::string& uid = "") {
    auto pod = MakePod(name);
    pod->group_name = group;
    if (!uid.empty()) pod->uid = uid;
    return pod;
  }
  static PodGroupRef Group(const std::string& name, const std::string& parent = "",
                           GroupKind kind = GroupKind::kPodGroup) {
    auto group = std::make_shared<PodGroup>();
    group->key = {kind, "ns", name};
    group->parent = parent;
    return group;
  }
  static PodGroupRef Composite(const std::string& name, const std::string& parent = "") {
    return Group(name, parent, GroupKind::kComposite);
  }
  static std::vector<std::string> NamesOf(const PoppedPod& popped) {
    std::vector<std::string> names;
    for (const PoppedPod& member : popped.group->members) names.push_back(member.pod->name);
    return names;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueGroups, testing::ValuesIn(AllQueueCases()), CaseName);

// The random driver found that it was hidden by the member.
TEST_P(QueueGroups, ASinglePodIsShownBesideTheMemberOfItsNameInFlight) {
  QueueBench bench(WithGroups());
  bench.assembled().GroupAdded(Group("g"));
  const PodRef member = Member("a");
  bench.Add(member);
  const PoppedPod popped = bench.MustPop();
  ASSERT_NE(popped.group, nullptr);
  bench.Delete(member);
  EXPECT_EQ(bench.PlaceOf("a"), "in-flight");
  bench.Add(Member("a", "", "another"));
  EXPECT_EQ(bench.PlaceOf("a"), "active");
  EXPECT_EQ(bench.assembled().Where("ns/a").pod->uid, "another");
  ASSERT_TRUE(bench.Fail(popped.group->members[0], {}).ok());
  bench.assembled().GroupDone(popped.group->root, GroupStatus::kError);
  EXPECT_EQ(bench.PlaceOf("a"), "active");
}

TEST_P(QueueGroups, AMemberIsShownBesideTheSinglePodOfItsNameInFlight) {
  QueueBench bench(WithGroups());
  bench.assembled().GroupAdded(Group("g"));
  const PodRef single = Member("a", "", "another");
  bench.Add(single);
  const PoppedPod popped = bench.MustPop();
  bench.Delete(single);
  bench.Add(Member("a"));
  EXPECT_EQ(bench.PlaceOf("a"), "active");
  EXPECT_EQ(bench.assembled().Where("ns/a").pod->uid, "uid-a");
  ASSERT_TRUE(bench.Fail(popped, {}).ok());
  EXPECT_EQ(bench.PlaceOf("a"), "active");
}

TEST_P(QueueGroups, ASinglePodThatFailsLeavesTheCycleAlone) {
  QueueBench bench(WithGroups());
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(MakePod("single"));
  const PoppedPod single = bench.MustPop();
  bench.Add(Member("a"));
  const PoppedPod group = bench.MustPop();
  ASSERT_NE(group.group, nullptr);
  ASSERT_TRUE(bench.Fail(single, {}).ok());
  ASSERT_TRUE(bench.Fail(group.group->members[0], {}).ok());
  bench.Add(Member("b"));
  EXPECT_EQ(bench.PlaceOf("a"), "pending");
  EXPECT_EQ(bench.PlaceOf("b"), "pending");
  bench.assembled().GroupDone(group.group->root, GroupStatus::kUnschedulable);
  EXPECT_EQ(bench.PlaceOf("a").substr(0, 13), "error-backoff");
  EXPECT_EQ(bench.PlaceOf("b").substr(0, 13), "error-backoff");
}

TEST_P(QueueGroups, GroupDoneWithoutACycleDoesNothing) {
  QueueBench bench(WithGroups());
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("a"));
  bench.assembled().GroupDone(Group("g")->key, GroupStatus::kError);
  bench.assembled().GroupDone(Group("nobody")->key, GroupStatus::kError);
  EXPECT_EQ(bench.PlaceOf("a"), "active");
}

// The kind is part of the key.
TEST_P(QueueGroups, AGroupAndACompositeOfOneNameAreTwoThings) {
  QueueBench bench(WithGroups({}, /*has_composites=*/true));
  bench.assembled().GroupAdded(Group("g"));
  bench.assembled().GroupAdded(Composite("g"));
  bench.assembled().GroupAdded(Group("leaf", "g"));
  bench.Add(Member("a"));
  bench.Add(Member("b", "leaf"));
  const PoppedPod first = bench.MustPop();
  EXPECT_EQ(first.group->root, Group("g")->key);
  EXPECT_EQ(NamesOf(first), std::vector<std::string>{"a"});
  const PoppedPod second = bench.MustPop();
  EXPECT_EQ(second.group->root, Composite("g")->key);
  EXPECT_EQ(NamesOf(second), std::vector<std::string>{"b"});
  bench.assembled().GroupDeleted(Composite("g")->key);
  ASSERT_TRUE(bench.Fail(first.group->members[0], {}).ok());
  ASSERT_TRUE(bench.Fail(second.group->members[0], {}).ok());
  EXPECT_EQ(bench.PlaceOf("a"), "pending");
  EXPECT_EQ(bench.PlaceOf("b"), "incomplete");
}

TEST_P(QueueGroups, AWayThatReturnsToItselfHasNoRoot) {
  QueueBench bench(WithGroups({}, /*has_composites=*/true));
  bench.Add(Member("a"));
  bench.assembled().GroupAdded(Group("g", "x"));
  bench.assembled().GroupAdded(Composite("x", "y"));
  bench.assembled().GroupAdded(Composite("y", "x"));
  EXPECT_EQ(bench.PlaceOf("a"), "incomplete");
  EXPECT_FALSE(bench.queue().TryPop().has_value());
  bench.assembled().GroupDeleted(Composite("y")->key);
  bench.assembled().GroupAdded(Composite("y"));
  EXPECT_EQ(bench.PlaceOf("a"), "active");
}

// Its pre-hint lists nobody, which is right for each pod that it rejected. But a member without
// rejectors makes its gated group worth any event that the gating plugin registered for.
TEST_P(QueueGroups, NarrowingHidesNoGatedGroupWithAMemberWithoutRejectors) {
  GatingSwitch gating;
  Plugin narrow = GatingPlugin("Narrow", &gating);
  narrow.events.push_back({Resource::kNode, Action::kAdd,
                           [](const Pod&, const ObjectChange&) { return Hint::kSkip; },
                           [](const ObjectChange&, PodList*) { return PreHint::kListed; }});
  // Only `a` is rejected.
  narrow.pre_enqueue = [&gating](const Pod& pod, std::string*) {
    return gating.open || pod.name != "a";
  };
  QueueBench bench(WithGroups({narrow}));
  gating.open = false;
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("a"));
  bench.Add(Member("b"));
  EXPECT_EQ(bench.PlaceOf("b"), "gated:Narrow");
  gating.open = true;
  auto node = std::make_shared<ObjectView>();
  node->resource = Resource::kNode;
  bench.queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {nullptr, node});
  EXPECT_EQ(bench.PlaceOf("a"), "active");
  EXPECT_EQ(bench.PlaceOf("b"), "active");
}

TEST_P(QueueGroups, GaugesCountMembersAndEntities) {
  QueueBench bench(WithGroups());
  bench.Add(Member("early", "unknown"));
  bench.assembled().GroupAdded(Group("g"));
  for (const char* name : {"a", "b", "c"}) bench.Add(Member(name));
  bench.Add(MakePod("single"));
  const auto gauge = [&](const char* name, const LabelValues& labels) {
    return bench.metrics().Value(name, labels).value_or(-1);
  };
  EXPECT_EQ(gauge("scheduler_pending_pods", {"active"}), 4);
  EXPECT_EQ(gauge("scheduler_pending_pods", {"incomplete"}), 1);
  EXPECT_EQ(gauge("scheduler_queued_entities", {"active", "pod"}), 1);
  EXPECT_EQ(gauge("scheduler_queued_entities", {"active", "podgroup"}), 1);
  const PoppedPod group = bench.MustPop();
  ASSERT_TRUE(bench.Fail(group.group->members[0], {}).ok());
  EXPECT_EQ(gauge("scheduler_pending_pods", {"active"}), 1);
  EXPECT_EQ(gauge("scheduler_pending_pods", {"pending"}), 1);
  EXPECT_EQ(gauge("scheduler_inflight_events", {"PodPopped"}), 2);
  EXPECT_EQ(gauge("scheduler_queued_entities", {"active", "podgroup"}), 0);
  bench.assembled().GroupDone(group.group->root, GroupStatus::kError);
  EXPECT_EQ(gauge("scheduler_pending_pods", {"backoff"}), 1);
  EXPECT_EQ(gauge("scheduler_queued_entities", {"backoff", "podgroup"}), 1);
}

TEST_P(QueueGroups, CloseEndsTheFlightOfEveryMember) {
  QueueBench bench(WithGroups());
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("a"));
  bench.Add(Member("b"));
  bench.MustPop();
  EXPECT_EQ(bench.assembled().Counts().in_flight, 2u);
  bench.queue().Close();
  EXPECT_EQ(bench.assembled().Counts().in_flight, 0u);
}

TEST_P(QueueGroups, WithTheGateOffMembersAreSinglePods) {
  QueueBench bench(Options());
  bench.queue().GroupAdd(Group("g"));
  bench.Add(Member("a"));
  const PoppedPod popped = bench.MustPop();
  EXPECT_EQ(popped.group, nullptr);
  bench.queue().GroupDone(Group("g")->key, GroupStatus::kError);
  EXPECT_EQ(bench.PlaceOf("a"), "in-flight");
}

}  // namespace
}  // namespace schedq
