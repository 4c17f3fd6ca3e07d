// Goal: the parts of the simulated scheduler keep the rules of their headers: the virtual lock, the
// cost model's strictness, the events of a node's update.
// Method: each part alone, on the smallest input that tells right from wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/victim_deletions.h"
#include "bench/sim/scheduler/virtual_lock.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/running_preemptions.h"
#include "schedq/cluster_events.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
  const auto before = NodeOf(1, 100);
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
  auto closed = *NodeOf(1, 100);
  closed.unschedulable = true;
  EXPECT_THAT(UpdateEvents(closed, *NodeOf(1, 100)), ElementsAre("NodeUpdateNodeTaint"));
  EXPECT_THAT(UpdateEvents(*NodeOf(1, 100), closed), IsEmpty());
}

// Its event may have come while the pod was gated.
TEST(VictimDeletionsTest, WhereTheLastVictimIsGoneAlreadyThePodIsActivated) {
  for (const bool is_gone : {false, true}) {
    RunningPreemptions running;
    int activated = 0;
    VictimDeletions deletions({
        .running = &running,
        .remove =
            [is_gone](const VictimCallsRef& calls) {
              if (!is_gone && calls->at_deletion) calls->at_deletion();
              calls->then(is_gone ? Status(Error(kVictimIsGone)) : Status::Ok());
            },
        .activate = [&activated](const PodRef&) { ++activated; },
    });
    auto pod = std::make_shared<ClusterPod>();
    pod->uid = "preemptor";
    const auto victim = std::make_shared<ClusterPod>();
    deletions.Begin(pod, {victim, victim});
    EXPECT_FALSE(running.Contains("preemptor"));
    EXPECT_EQ(activated, is_gone ? 1 : 0);
  }
}

}  // namespace
}  // namespace schedq
