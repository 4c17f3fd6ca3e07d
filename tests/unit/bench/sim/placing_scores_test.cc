// Goal: nodes get the scores that kube-scheduler's plugins give, added with their weights; and a
// score that is kept from an earlier attempt is that of the node's present room.
// Method: nodes with known amounts in use, whose scores are worked out by hand; random changes of a
// ledger, after each of which kept scores must equal those of a fresh copy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/budget_book.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/node_ledger.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/pods_by_node.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "bench/sim/placing/resource_table.h"
#include "bench/sim/placing/room_scores.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/volumes/volume_book.h"
#include "engine/base/random.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"
#include "tests/unit/bench/sim/device_test_objects.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using Strategy = FitScoring::Strategy;

std::shared_ptr<ClusterPod> PodFrom(const std::string& containers) {
  auto pod = std::make_shared<ClusterPod>();
  pod->object = ObjectFrom("apiVersion: v1\nkind: Pod\nspec: {containers: [" + containers + "]}\n");
  static_cast<Pod&>(*pod) = pod->spec().pod;
  return pod;
}

std::shared_ptr<ClusterPod> PodWith(int64_t cpu, int64_t memory) {
  return PodFrom("{name: c, resources: {requests: {cpu: " + std::to_string(cpu) +
                 "m, memory: " + std::to_string(memory) + "}}}");
}

// One node, with what is in use of it.
class ScoresTest : public testing::Test {
 protected:
  void SetNode(ResourceList allocatable, const std::vector<ClusterPodRef>& pods = {}) {
    auto node = std::make_shared<ClusterNode>();
    node->name = "n";
    allocatable.emplace_back("pods", 10);
    node->allocatable = std::move(allocatable);
    ledger_.SetNode(node);
    for (const ClusterPodRef& pod : pods) ledger_.Take("n", ledger_.resources().DemandOf(*pod));
    nodes_.Refresh();
  }
  int64_t Score(const PlacingPlugin& plugin, const ClusterPod& pod) {
    PlacingAttempt attempt;
    attempt.pod = &pod;
    attempt.demand = ledger_.resources().DemandOf(pod);
    return plugin.ScoreRoom(attempt, nodes_, 0);
  }
  int64_t Fit(const FitScoring& scoring, const ClusterPod& pod) {
    PlacingTools tools;
    tools.resources = &ledger_.resources();
    tools.profile.fit_scoring = scoring;
    return Score(*MakeNodeResourcesFit(tools), pod);
  }
  int64_t Balanced(const ClusterPod& pod) {
    return Score(*MakeNodeResourcesBalancedAllocation(), pod);
  }

  NodeLedger ledger_;
  NodeColumns nodes_{&ledger_};
};

TEST_F(ScoresTest, LeastAllocatedIsTheMeanOfWhatIsLeft) {
  SetNode({{"cpu", 1000}, {"memory", 4000}}, {PodWith(200, 1000)});
  // cpu: 300 of 1000 in use with the pod, 70 left. memory: 2000 of 4000, 50 left.
  EXPECT_EQ(Fit({}, *PodWith(100, 1000)), 60);
  EXPECT_EQ(Fit({.resources = {{"cpu", 3}, {"memory", 1}}}, *PodWith(100, 1000)), 65);
  // Rounded down: cpu 69.9 to 69, memory 49.975 to 49.
  EXPECT_EQ(Fit({}, *PodWith(101, 1001)), 59);
}

TEST_F(ScoresTest, MostAllocatedIsTheMeanOfWhatIsInUse) {
  SetNode({{"cpu", 1000}, {"memory", 4000}}, {PodWith(200, 1000)});
  const FitScoring most = {.strategy = Strategy::kMostAllocated};
  EXPECT_EQ(Fit(most, *PodWith(100, 1000)), 40);
}

TEST_F(ScoresTest, AShapeIsFollowedBetweenItsPoints) {
  SetNode({{"cpu", 1000}, {"memory", 4000}}, {PodWith(200, 1000)});
  FitScoring shaped = {.strategy = Strategy::kRequestedToCapacityRatio,
                       .shape = {{0, 0}, {20, 2}, {100, 10}}};
  // cpu 30 %: 30. memory 50 %: 50.
  EXPECT_EQ(Fit(shaped, *PodWith(100, 1000)), 40);
  shaped.shape = {{0, 10}, {100, 0}};
  EXPECT_EQ(Fit(shaped, *PodWith(100, 1000)), 60);
  // A zero does not count: only cpu does, 60 % in use.
  shaped.shape = {{0, 10}, {50, 0}, {60, 10}};
  EXPECT_EQ(Fit(shaped, *PodWith(400, 1000)), 100);
}

TEST_F(ScoresTest, AResourceThatThePodDoesNotAskForIsLeftOut) {
  SetNode({{"cpu", 1000}, {"example.com/gpu", 4}, {"memory", 4000}});
  const FitScoring scoring = {.resources = {{"cpu", 1}, {"example.com/gpu", 1}}};
  EXPECT_EQ(Fit(scoring, *PodWith(100, 0)), 90);
  auto pod = PodWith(100, 0);
  pod->requests.emplace_back("example.com/gpu", 2);
  EXPECT_EQ(Fit(scoring, *pod), 70);
  // A node that has none of it is judged by the rest.
  SetNode({{"cpu", 1000}});
  EXPECT_EQ(Fit(scoring, *pod), 90);
}

// The class of example.com/gpu selects the devices of driver d, of which one of four is in use.
TEST_F(ScoresTest, DevicesOfAClassCountAsTheResourceThatItStandsFor) {
  ClaimBook claims;
  const auto deliver = [&](Resource resource, ObjectRef after) {
    ClusterChange change;
    change.resource = resource;
    change.objects = {nullptr, std::move(after)};
    claims.Apply(change);
  };
  const auto publish = [&](const std::string& name, const ResourceSliceObject& object) {
    auto slice = std::make_shared<ClusterSlice>();
    slice->name = name;
    slice->slice = Shared(object);
    deliver(Resource::kResourceSlice, slice);
  };
  publish("own", SliceOf("n", "d", "n", {"0", "1", "2", "3"}));
  publish("others", SliceOf("m", "d", "m", {"0", "1"}));
  publish("unlike", SliceOf("n", "e", "n", {"0"}));
  auto claim = std::make_shared<ClusterClaim>();
  claim->name = "c";
  claim->allocation = AllocationOf({"d/n/1"}, "n");
  deliver(Resource::kResourceClaim, claim);
  SetNode({{"cpu", 1000}});
  PlacingTools tools;
  tools.resources = &ledger_.resources();
  tools.claims = &claims;
  tools.profile.fit_scoring = {.resources = {{"cpu", 1}, {"example.com/gpu", 1}}};
  const PlacingPluginRef fit = MakeNodeResourcesFit(tools);
  const auto pod = PodWith(100, 0);
  PlacingAttempt attempt;
  attempt.pod = pod.get();
  attempt.demand = ledger_.resources().DemandOf(*pod);
  EXPECT_FALSE(fit->PreScore(&attempt, nodes_)) << "it asks for no device";
  pod->device_requests.push_back({"container-0-request-0", "example.com/gpu", 2});
  EXPECT_FALSE(fit->PreScore(&attempt, nodes_)) << "no class stands for it";
  auto device_class = std::make_shared<ClusterDeviceClass>();
  device_class->name = "gpu";
  device_class->device_class = ClassOf("d");
  device_class->device_class.extended_resource = "example.com/gpu";
  deliver(Resource::kDeviceClass, device_class);
  ASSERT_TRUE(fit->PreScore(&attempt, nodes_));
  const uint32_t slot = 0;
  int64_t devices = 0;
  fit->Score(attempt, nodes_, {&slot, 1}, {&devices, 1});
  // cpu: 90 left. Devices: 3 of 4 in use with the pod, 25 left. (90 + 25) / 2 = 57.
  EXPECT_EQ(fit->ScoreRoom(attempt, nodes_, slot), 90);
  EXPECT_EQ(devices, 57 - 90);
  // A selector that cannot be evaluated leaves the devices out.
  device_class = std::make_shared<ClusterDeviceClass>(*device_class);
  device_class->device_class.selectors = {"device.attributes['d'].none == 1"};
  deliver(Resource::kDeviceClass, device_class);
  fit->Score(attempt, nodes_, {&slot, 1}, {&devices, 1});
  EXPECT_EQ(devices, 0);
}

// Else all pods without requests would go to one node.
TEST_F(ScoresTest, AContainerWithoutRequestsCountsAsIfItAsked) {
  constexpr int64_t kMemory = int64_t{2000} << 20;
  const auto idle = PodFrom("{name: a}, {name: b, resources: {requests: {cpu: 50m}}}");
  EXPECT_EQ(idle->spec().assumed_cpu, 100);
  EXPECT_EQ(idle->spec().assumed_memory, int64_t{400} << 20);
  EXPECT_EQ(PodFrom("{name: a, resources: {requests: {cpu: 0, memory: 0}}}")->spec().assumed_cpu,
            0);
  SetNode({{"cpu", 1000}, {"memory", kMemory}}, {idle});
  // With a second such pod cpu: 300 of 1000. memory: 800 of 2000 Mi.
  EXPECT_EQ(Fit({}, *idle), (70 + 60) / 2);
  // Real requests alone decide whether a pod fits, and how even the shares are.
  EXPECT_EQ(nodes_.WithFree(0, kCpuResource, 950), 1u);
  EXPECT_EQ(Balanced(*PodFrom("{name: a}")), 0);
}

TEST_F(ScoresTest, APodThatEvensOutTheSharesIsWelcome) {
  SetNode({{"cpu", 1000}, {"memory", 1000}}, {PodWith(400, 0)});
  // Apart by 0.4, then by 0.2: 80 and 90.
  EXPECT_EQ(Balanced(*PodWith(0, 200)), 50 + (50 + 90 - 80) / 2);
  // Apart by 0.6: 70.
  EXPECT_EQ(Balanced(*PodWith(200, 0)), 50 + (50 + 70 - 80) / 2);
  EXPECT_EQ(Balanced(*PodWith(100, 100)), 75);
  SetNode({{"cpu", 1000}});
  EXPECT_EQ(Balanced(*PodWith(100, 0)), 75);
}

// Gives each node its number, or all the same.
class Opinion final : public PlacingPlugin {
 public:
  Opinion(int32_t weight, std::vector<int64_t> scores)
      : weight_(weight), scores_(std::move(scores)) {}

  std::string_view name() const override { return "Opinion"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kScore); }
  int32_t weight() const override { return weight_; }
  bool PreScore(PlacingAttempt*, const NodeColumns&) const override { return true; }
  void Score(const PlacingAttempt&, const NodeColumns&, std::span<const uint32_t> slots,
             std::span<int64_t> scores) const override {
    for (size_t i = 0; i < slots.size(); ++i) scores[i] = scores_[slots[i]];
  }

 private:
  const int32_t weight_;
  const std::vector<int64_t> scores_;
};

std::string BestOf(int32_t weight, uint64_t seed = 0) {
  SchedulerCache cache([weight](const PlacingTools&) {
    std::vector<PlacingPluginRef> plugins;
    plugins.push_back(std::make_unique<Opinion>(1, std::vector<int64_t>{40, 0, 100}));
    plugins.push_back(std::make_unique<Opinion>(weight, std::vector<int64_t>{60, 100, 0}));
    return plugins;
  });
  for (uint64_t i : {1, 2, 3}) {
    ClusterChange change;
    change.resource = Resource::kNode;
    change.objects.after = NodeOf(i, 1000);
    cache.Apply(change);
  }
  return Placer(&cache, Random(seed)).Decide(*PodOf(1, 1)).node;
}

TEST(Scores, AreAddedWithTheirWeights) {
  std::set<std::string> of_equal_sums;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    EXPECT_EQ(BestOf(0, seed), "n3");
    EXPECT_EQ(BestOf(2, seed), "n2");
    of_equal_sums.insert(BestOf(1, seed));
  }
  EXPECT_EQ(of_equal_sums.size(), 3u) << "chance decides between equal sums";
}

TEST(RoomScores, AreThoseOfThePresentRoom) {
  NodeLedger ledger;
  ClaimBook claims;
  PodsByNode pods_by_node;
  PodBook pod_book;
  VolumeBook volumes;
  const BudgetBook budgets;
  const Framework plugins(BuiltinPlacingPlugins(
      {&ledger.resources(), &claims, &pods_by_node, &pod_book, &volumes, &budgets}));
  NodeColumns nodes(&ledger);
  RoomScores kept(&nodes, plugins);
  Random random(5);
  std::vector<std::pair<uint32_t, NodeDemand>> taken;
  std::vector<ClusterPodRef> pods;
  for (int64_t i = 0; i < 12; ++i) pods.push_back(PodWith(10 * i, 7 * i));
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    for (int step = 0; step < 5; ++step) {
      const uint64_t number = 1 + random.Below(130);
      const NodeDemand demand = ledger.resources().DemandOf(*pods[random.Below(pods.size())]);
      if (random.Below(3) == 0) {
        ledger.SetNode(NodeOf(number, 500 + static_cast<int64_t>(random.Below(500)), 1000));
      } else if (random.Below(2) == 0 || taken.empty()) {
        taken.emplace_back(ledger.Take("n" + std::to_string(number), demand), demand);
      } else {
        ledger.Give(taken.back().first, taken.back().second);
        taken.pop_back();
      }
    }
    nodes.Refresh();
    PlacingAttempt attempt;
    attempt.pod = pods[random.Below(pods.size())].get();
    attempt.demand = ledger.resources().DemandOf(*attempt.pod);
    RoomScores fresh(&nodes, plugins);
    kept.Begin(attempt);
    fresh.Begin(attempt);
    for (size_t block = 0; block < nodes.blocks(); ++block) {
      const uint64_t known = nodes.known(block);
      const RoomScores::Block now = kept.Of(attempt, block, known);
      const RoomScores::Block wanted = fresh.Of(attempt, block, known);
      ForEachNode(block, known, [&](uint32_t slot) {
        const size_t i = slot % kNodesPerBlock;
        ASSERT_EQ(now[i], wanted[i]) << "round " << round << ", slot " << slot;
      });
    }
  }
}

}  // namespace
}  // namespace schedq
