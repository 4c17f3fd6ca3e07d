// Goal: the API server behaves like the real one in all that scheduling depends on. Informers
// deliver every change once, in order, after their delay.
// Method: calls on a cluster whose watcher records the deliveries.
#include "bench/sim/cluster/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/pod_slots.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Duration kDelay = std::chrono::milliseconds(2);

class ClusterTest : public testing::Test {
 protected:
  void Settle() { clock_.AdvanceBy(kDelay); }
  std::string MustCreate(const ApiObjectRef& object, const std::string& space = "ns") {
    const Result<ObjectHandle> handle = cluster_.Create(object, space);
    EXPECT_TRUE(handle.ok());
    return handle->name;
  }

  VirtualClock clock_{Instant(std::chrono::seconds(1000))};
  Cluster cluster_{{&clock_, kDelay, true}};
  ChangeLog log_{&cluster_};
};

TEST_F(ClusterTest, ChangesArriveInOrderAfterTheDelay) {
  MustCreate(NodeObjectNamed("n"));
  MustCreate(PodObjectNamed("p"));
  clock_.AdvanceBy(kDelay - std::chrono::nanoseconds(1));
  EXPECT_THAT(log_.lines(), IsEmpty());
  ASSERT_TRUE(cluster_.BindPod(1, "n").ok());
  cluster_.DeletePod(1);
  clock_.AdvanceBy(std::chrono::nanoseconds(1));
  EXPECT_THAT(log_.lines(), ElementsAre("Node+ n", "Pod+ ns/p"));
  Settle();
  EXPECT_THAT(log_.lines(), ElementsAre("Node+ n", "Pod+ ns/p", "Pod~ ns/p", "Pod- ns/p"));
  EXPECT_EQ(log_.changes()[2].pod_before->node_name, "");
  EXPECT_EQ(log_.changes()[2].pod_after->node_name, "n");
}

TEST_F(ClusterTest, EveryKindTellsItsOwnResource) {
  MustCreate(
      ObjectFrom("apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: c}\n"
                 "spec: {selectors: [{cel: {expression: 'device.driver == \"d\"'}}]}\n"));
  MustCreate(
      ObjectFrom("apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
                 "spec: {driver: d, nodeName: n, pool: {name: n, generation: 1, "
                 "resourceSliceCount: 1}, devices: [{name: a}]}\n"));
  MustCreate(ObjectFrom("apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {}\n"));
  EXPECT_TRUE(cluster_.Delete({"ResourceSlice", "", "s"}));
  EXPECT_TRUE(cluster_.Delete({"Service", "ns", "x"}));
  EXPECT_FALSE(cluster_.Delete({"Service", "ns", "x"}));
  Settle();
  EXPECT_THAT(log_.lines(), ElementsAre("DeviceClass+ c", "ResourceSlice+ s", "ResourceSlice- s"));
}

TEST_F(ClusterTest, ANameIsTakenOnce) {
  MustCreate(PodObjectNamed("p"));
  EXPECT_FALSE(cluster_.Create(PodObjectNamed("p"), "ns").ok());
  EXPECT_TRUE(cluster_.Create(PodObjectNamed("p"), "other").ok());
  ASSERT_TRUE(cluster_.Delete({"Pod", "ns", "p"}));
  EXPECT_TRUE(cluster_.Create(PodObjectNamed("p"), "ns").ok());
  EXPECT_EQ(cluster_.pods().size(), 2u);
}

TEST_F(ClusterTest, GatedPodsGetTheirConditionAtOnce) {
  MustCreate(PodObjectNamed("p", "1", "  schedulingGates: [{name: g}]\n"));
  const PodCondition* condition = FindCondition(*cluster_.FindPod(1), kPodScheduledCondition);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->reason, "SchedulingGated");
  EXPECT_EQ(condition->status, "False");
}

TEST_F(ClusterTest, FinalizersKeepADeletedPod) {
  MustCreate(
      ObjectFrom("apiVersion: v1\nkind: Pod\nmetadata: {name: p, finalizers: [f/x]}\n"
                 "spec: {containers: [{name: c, image: i}]}\n"));
  ASSERT_TRUE(cluster_.DeletePod(1));
  ASSERT_NE(cluster_.FindPod(1), nullptr);
  EXPECT_TRUE(cluster_.FindPod(1)->deleting);
  EXPECT_FALSE(cluster_.DeletePod(1));
  EXPECT_FALSE(cluster_.BindPod(1, "n").ok());
  cluster_.UpdatePod(1, [](ClusterPod* pod) {
    pod->finalizers.clear();
    return true;
  });
  EXPECT_EQ(cluster_.FindPod(1), nullptr);
  Settle();
  EXPECT_THAT(log_.lines(), ElementsAre("Pod+ ns/p", "Pod~ ns/p", "Pod- ns/p"));
}

TEST_F(ClusterTest, AGracePeriodKeepsABoundPod) {
  MustCreate(PodObjectNamed("bound"));
  MustCreate(PodObjectNamed("quick", "100m", "  terminationGracePeriodSeconds: 0\n"));
  MustCreate(PodObjectNamed("waiting"));
  ASSERT_TRUE(cluster_.BindPod(1, "n").ok());
  ASSERT_TRUE(cluster_.BindPod(2, "n").ok());
  for (const uint64_t pod : {1, 2, 3}) EXPECT_TRUE(cluster_.DeletePodGracefully(pod));
  ASSERT_NE(cluster_.FindPod(1), nullptr);
  EXPECT_TRUE(cluster_.FindPod(1)->deleting);
  EXPECT_EQ(cluster_.FindPod(2), nullptr) << "its grace period is 0";
  EXPECT_EQ(cluster_.FindPod(3), nullptr) << "no kubelet has it";
  EXPECT_FALSE(cluster_.DeletePodGracefully(1)) << "it is being deleted already";
  cluster_.UpdatePod(1, [](ClusterPod* pod) {
    pod->labels = {{"a", "b"}};
    return true;
  });
  EXPECT_NE(cluster_.FindPod(1), nullptr) << "an update does not end it";
  EXPECT_TRUE(cluster_.Delete({"Pod", "ns", "bound"}) || cluster_.FindPod(1)->deleting);
  EXPECT_TRUE(cluster_.DeletePod(1));
  EXPECT_EQ(cluster_.FindPod(1), nullptr);
}

TEST_F(ClusterTest, BindingHappensOnceAndClearsTheNomination) {
  MustCreate(PodObjectNamed("p"));
  cluster_.UpdatePod(1, [](ClusterPod* pod) {
    pod->nominated_node_name = "n";
    return true;
  });
  ASSERT_TRUE(cluster_.BindPod(1, "n").ok());
  EXPECT_EQ(cluster_.FindPod(1)->nominated_node_name, "");
  EXPECT_FALSE(cluster_.BindPod(1, "m").ok());
  EXPECT_FALSE(cluster_.BindPod(2, "n").ok());
}

TEST(ClusterNominations, StayWithoutTheGate) {
  VirtualClock clock{Instant()};
  Cluster cluster({&clock, kDelay, false});
  ASSERT_TRUE(cluster.Create(PodObjectNamed("p"), "ns").ok());
  cluster.UpdatePod(1, [](ClusterPod* pod) {
    pod->nominated_node_name = "n";
    return true;
  });
  ASSERT_TRUE(cluster.BindPod(1, "n").ok());
  EXPECT_EQ(cluster.FindPod(1)->nominated_node_name, "n");
}

TEST_F(ClusterTest, NodesHaveAllocatableAndHostname) {
  MustCreate(NodeObjectNamed("n"));
  const ClusterNodeRef node = cluster_.FindNode("n");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(LabelValue(node->labels, "kubernetes.io/hostname"), "n");
  EXPECT_THAT(node->allocatable, testing::Contains(testing::Pair("cpu", 4000)));
  EXPECT_TRUE(cluster_.Delete({"Node", "", "n"}));
  EXPECT_EQ(cluster_.FindNode("n"), nullptr);
}

TEST(PodSlots, ANumberIsGivenOutAgainWhenNobodyHoldsItsPod) {
  const auto slots = std::make_shared<PodSlots>();
  PodSlotRef first = slots->Take();
  const PodSlotRef second = slots->Take();
  EXPECT_NE(first->number(), second->number());
  const uint64_t number = first->number();
  PodSlotRef held = first;
  first.reset();
  EXPECT_NE(slots->Take()->number(), number);
  std::jthread([held = std::move(held)]() mutable { held.reset(); }).join();
  const PodSlotRef third = slots->Take();
  const PodSlotRef fourth = slots->Take();
  EXPECT_TRUE(third->number() == number || fourth->number() == number);
}

}  // namespace
}  // namespace schedq
