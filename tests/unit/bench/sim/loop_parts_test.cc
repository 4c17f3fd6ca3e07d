// Goal: the parts of the simulated scheduler keep the rules of their headers: the rule of placing,
// the virtual lock, the cost model's strictness, the events of a node's update.
// Method: each part alone, on the smallest input that tells right from wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/node_table.h"
#include "bench/sim/scheduler/scheduler_cache.h"
#include "bench/sim/scheduler/virtual_lock.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/object.h"
#include "schedq/cluster_events.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::shared_ptr<ClusterNode> Node(uint64_t number, int64_t cpu, int64_t pods = 10) {
  auto node = std::make_shared<ClusterNode>();
  node->number = number;
  node->name = "n" + std::to_string(number);
  node->allocatable = {{"cpu", cpu}, {"memory", 1000}, {"pods", pods}};
  return node;
}

std::shared_ptr<ClusterPod> PodOf(uint64_t number, int64_t cpu) {
  static const ApiObjectRef object = PodObjectNamed("p");
  auto pod = std::make_shared<ClusterPod>();
  pod->object = object;
  pod->number = number;
  pod->requests = {{"cpu", cpu}};
  return pod;
}

uint32_t Bit(Obstacle obstacle) { return 1u << static_cast<int>(obstacle); }

TEST(NodeTable, TheLeastInUseGoesFirstAndTiesGoByOrder) {
  NodeTable nodes;
  for (uint64_t i : {2, 1, 3}) nodes.SetNode(Node(i, 1000));
  std::vector<std::string> order;
  for (uint64_t i = 1; i <= 4; ++i) {
    const auto pod = PodOf(i, 100);
    order.push_back(nodes.Place(*pod, "", {}).node);
    nodes.Assume(*pod, order.back());
  }
  EXPECT_THAT(order, ElementsAre("n1", "n2", "n3", "n1"));
  nodes.Forget(2);
  EXPECT_EQ(nodes.Place(*PodOf(5, 100), "", {}).node, "n2");
}

TEST(NodeTable, SaysWhatStoodInTheWay) {
  NodeTable nodes;
  EXPECT_EQ(nodes.Place(*PodOf(1, 1), "", {}).obstacles, 0u);
  nodes.SetNode(Node(1, 10));
  auto closed = Node(2, 1000);
  closed->unschedulable = true;
  nodes.SetNode(closed);
  auto tainted = Node(3, 1000);
  tainted->taints = {{"k", "", "NoSchedule"}};
  nodes.SetNode(tainted);
  const NodeChoice choice = nodes.Place(*PodOf(1, 100), "", {});
  EXPECT_EQ(choice.node, "");
  EXPECT_EQ(choice.obstacles,
            Bit(Obstacle::kResources) | Bit(Obstacle::kUnschedulable) | Bit(Obstacle::kTaints));
  EXPECT_EQ(nodes.Place(*PodOf(1, 1), "", [](const std::string&) { return false; }).obstacles &
                Bit(Obstacle::kDevices),
            Bit(Obstacle::kDevices));
  auto pod = PodOf(1, 1);
  pod->node_selector = {{"zone", "a"}};
  EXPECT_EQ(nodes.Place(*pod, "", {}).obstacles & Bit(Obstacle::kAffinity),
            Bit(Obstacle::kAffinity));
}

TEST(NodeTable, ANodesPodsSurviveTheNode) {
  NodeTable nodes;
  nodes.SetNode(Node(1, 100));
  nodes.Assume(*PodOf(1, 80), "n1");
  nodes.RemoveNode("n1");
  EXPECT_EQ(nodes.size(), 0u);
  nodes.SetNode(Node(1, 100));
  EXPECT_EQ(nodes.Place(*PodOf(2, 30), "", {}).node, "");
  nodes.Forget(1);
  EXPECT_EQ(nodes.Place(*PodOf(2, 30), "", {}).node, "n1");
}

TEST(NodeTable, TheNumberOfPodsIsALimit) {
  NodeTable nodes;
  nodes.SetNode(Node(1, 100, 1));
  nodes.Assume(*PodOf(1, 0), "n1");
  EXPECT_EQ(nodes.Place(*PodOf(2, 0), "", {}).obstacles, Bit(Obstacle::kResources));
}

TEST(NodesToFind, FollowsTheSizeOfTheCluster) {
  EXPECT_EQ(NodesToFind(50), 50u);
  EXPECT_EQ(NodesToFind(100), 100u);
  EXPECT_EQ(NodesToFind(500), 230u);
  EXPECT_EQ(NodesToFind(5000), 500u);
  EXPECT_EQ(NodesToFind(20000), 1000u);
}

TEST(VirtualLock, ServesInOrderAndOneAtATime) {
  VirtualClock clock{Instant()};
  VirtualLock lock(&clock);
  std::vector<std::string> told;
  const auto run = [&](const std::string& name, int milliseconds) {
    lock.Run(
        [&told, &clock, name, milliseconds] {
          told.push_back(name + "@" + std::to_string(clock.Now().time_since_epoch() / kSecond));
          return std::chrono::seconds(milliseconds);
        },
        [&told, name] { told.push_back(name + " done"); });
  };
  run("a", 2);
  run("b", 3);
  run("c", 1);
  clock.AdvanceBy(std::chrono::seconds(10));
  EXPECT_THAT(told, ElementsAre("a@0", "b@2", "a done", "c@5", "b done", "c done"));
}

TEST(CostModel, TheOneInTheProgramIsWellFormed) {
  const auto costs = LoadCostModel("upstream");
  ASSERT_TRUE(costs.ok()) << costs.error().message();
  EXPECT_EQ(costs->name, "upstream");
  // One attempt of SchedulingBasic/500Nodes takes what 336 pods/s leave to it.
  const Duration attempt =
      costs->attempt + costs->queue_pop + costs->queue_done + 230 * costs->filter_node;
  EXPECT_EQ(attempt, Duration(2976190));
}

std::string ErrorOf(const std::string& text) {
  const auto costs = ParseCostModel("c.yaml", text);
  return costs.ok() ? "" : costs.error().message();
}

TEST(CostModel, IsStrict) {
  EXPECT_THAT(ErrorOf("name: x\n"), HasSubstr("attempt_ns"));
  EXPECT_THAT(ErrorOf(std::string(kUpstreamCosts) + "surplus: 1\n"), HasSubstr("surplus"));
  std::string text(kUpstreamCosts);
  text.replace(text.find("queue_add_ns: "), 14, "queue_add_ns: -");
  EXPECT_THAT(ErrorOf(text), HasSubstr("c.yaml:"));
  EXPECT_THAT(ErrorOf(text), HasSubstr("expected 0 to"));
  EXPECT_THAT(LoadCostModel("/no/such/file").error().message(), HasSubstr("does not exist"));
}

std::vector<std::string> UpdateEvents(const ObjectView& before, const ObjectView& after) {
  std::vector<std::string> names;
  for (const ClusterEvent& event : NodeUpdateEvents(before, after)) {
    names.emplace_back(LabelText(event.label));
  }
  return names;
}

TEST(NodeUpdateEvents, OneForEachThingThatChanged) {
  const auto before = Node(1, 100);
  auto after = *before;
  EXPECT_THAT(UpdateEvents(*before, after), IsEmpty());
  after.labels = {{"a", "b"}};
  after.allocatable = {{"cpu", 200}};
  after.taints = {{"k", "", "NoSchedule"}};
  EXPECT_THAT(
      UpdateEvents(*before, after),
      ElementsAre("NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel", "NodeUpdateNodeTaint"));
}

TEST(NodeUpdateEvents, OnlyOpeningANodeIsAnEvent) {
  auto closed = *Node(1, 100);
  closed.unschedulable = true;
  EXPECT_THAT(UpdateEvents(closed, *Node(1, 100)), ElementsAre("NodeUpdateNodeTaint"));
  EXPECT_THAT(UpdateEvents(*Node(1, 100), closed), IsEmpty());
}

}  // namespace
}  // namespace schedq
