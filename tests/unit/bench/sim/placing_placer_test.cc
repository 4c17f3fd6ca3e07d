// Goal: the placer keeps the rules of its header, and the ledger's copies follow it.
// Method: small clusters, in which each rule decides alone; random changes against a fresh copy;
// real threads that fight for one node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/node_ledger.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/resource_table.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "engine/base/random.h"
#include "engine/event.h"
#include "engine/object.h"
#include "tests/unit/bench/sim/device_test_objects.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A cache as the informers fill it, with one scheduling thread.
struct Scene {
  SchedulerCache cache;
  Placer placer{&cache};

  void SetNode(const ClusterNodeRef& node) { Deliver(Resource::kNode, nullptr, node); }
  void RemoveNode(const ClusterNodeRef& node) { Deliver(Resource::kNode, node, nullptr); }
  void Deliver(Resource resource, ObjectRef before, ObjectRef after) {
    ClusterChange change;
    change.resource = resource;
    change.objects = {std::move(before), std::move(after)};
    cache.Apply(change);
  }
  // Decides and assumes; empty: no node.
  std::string Place(const ClusterPodRef& pod) {
    Decision decision = placer.Decide(*pod);
    if (!decision.node.empty()) {
      EXPECT_TRUE(cache.Assume(pod, &decision));
    }
    return decision.node;
  }
  std::set<std::string> Rejectors(const ClusterPodRef& pod) {
    const Decision decision = placer.Decide(*pod);
    std::set<std::string> names;
    for (size_t i = 0; i < cache.framework().size(); ++i) {
      if ((decision.rejectors & Framework::BitOf(i)) == 0) continue;
      names.emplace(cache.framework().plugin(i).name());
    }
    return names;
  }
  void Delete(const ClusterPodRef& pod) {
    ClusterChange change;
    change.pod_before = pod;
    cache.Apply(change);
  }
};

TEST(Placer, TheLeastInUseGoesFirst) {
  Scene scene;
  for (uint64_t i : {1, 2, 3}) scene.SetNode(NodeOf(i, 1000));
  std::vector<ClusterPodRef> pods;
  std::vector<std::string> order;
  for (uint64_t i = 1; i <= 3; ++i) {
    pods.push_back(PodOf(i, 100));
    order.push_back(scene.Place(pods.back()));
  }
  EXPECT_THAT(order, UnorderedElementsAre("n1", "n2", "n3"));
  scene.Place(PodOf(4, 100));
  scene.Delete(pods[1]);
  scene.Place(PodOf(5, 50));
  scene.Delete(pods[2]);
  EXPECT_EQ(scene.Place(PodOf(6, 100)), order[2]);
}

// Pods of no size tie for ever. The first node of several would take them all, until it is full.
TEST(Placer, OfSeveralBestNodesChanceDecides) {
  for (const uint64_t nodes : {2, 3, 64, 130}) {
    Scene scene;
    for (uint64_t i = 1; i <= nodes; ++i) scene.SetNode(NodeOf(i, 1000));
    std::map<std::string, uint64_t> times;
    const uint64_t pods = 400 * nodes;
    for (uint64_t i = 1; i <= pods; ++i) ++times[scene.placer.Decide(*PodOf(i, 0)).node];
    ASSERT_EQ(times.size(), nodes);
    for (const auto& [node, count] : times) EXPECT_GT(count, 50u) << node << " of " << nodes;
  }
}

TEST(Placer, EqualStreamsDecideAlikeAndOthersDoNot) {
  const auto order = [](uint64_t seed) {
    Scene scene;
    Placer placer(&scene.cache, Random(seed));
    for (uint64_t i = 1; i <= 70; ++i) scene.SetNode(NodeOf(i, 1000));
    std::vector<std::string> nodes;
    for (uint64_t i = 1; i <= 20; ++i) nodes.push_back(placer.Decide(*PodOf(i, 0)).node);
    return nodes;
  };
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(4));
}

TEST(Placer, SaysWhichPluginsRejected) {
  Scene scene;
  EXPECT_THAT(scene.Rejectors(PodOf(1, 1)), IsEmpty());
  scene.SetNode(NodeOf(1, 10));
  auto closed = NodeOf(2, 1000);
  closed->unschedulable = true;
  scene.SetNode(closed);
  auto tainted = NodeOf(3, 1000);
  tainted->taints = {{"k", "", "NoSchedule"}};
  scene.SetNode(tainted);
  EXPECT_THAT(scene.Rejectors(PodOf(1, 100)),
              ElementsAre("NodeResourcesFit", "NodeUnschedulable", "TaintToleration"));
  auto pod = PodOf(1, 1);
  pod->node_selector = {{"zone", "a"}};
  EXPECT_THAT(scene.Rejectors(pod), testing::Contains("NodeAffinity"));
}

TEST(Placer, ANodeThatChangesIsSeenAsItIs) {
  Scene scene;
  auto closed = NodeOf(1, 100);
  closed->unschedulable = true;
  scene.SetNode(closed);
  EXPECT_EQ(scene.placer.Decide(*PodOf(1, 1)).node, "");
  scene.SetNode(NodeOf(1, 100));
  EXPECT_EQ(scene.placer.Decide(*PodOf(1, 1)).node, "n1");
  scene.SetNode(NodeOf(1, 0));
  EXPECT_THAT(scene.Rejectors(PodOf(1, 1)), ElementsAre("NodeResourcesFit"));
}

TEST(Placer, ANodesPodsSurviveTheNode) {
  Scene scene;
  const auto node = NodeOf(1, 100);
  scene.SetNode(node);
  const auto pod = PodOf(1, 80);
  EXPECT_EQ(scene.Place(pod), "n1");
  scene.RemoveNode(node);
  EXPECT_THAT(scene.Rejectors(PodOf(2, 30)), IsEmpty()) << "there is no node that could reject";
  scene.SetNode(node);
  EXPECT_EQ(scene.Place(PodOf(2, 30)), "");
  scene.Delete(pod);
  EXPECT_EQ(scene.Place(PodOf(2, 30)), "n1");
}

TEST(Placer, TheNumberOfPodsIsALimit) {
  Scene scene;
  scene.SetNode(NodeOf(1, 100, 1));
  EXPECT_EQ(scene.Place(PodOf(1, 0)), "n1");
  EXPECT_THAT(scene.Rejectors(PodOf(2, 0)), ElementsAre("NodeResourcesFit"));
}

TEST(Placer, AResourceThatNoNodeHasFitsNowhere) {
  Scene scene;
  scene.SetNode(NodeOf(1, 100));
  auto pod = PodOf(1, 1);
  pod->requests.emplace_back("example.com/gpu", 1);
  EXPECT_THAT(scene.Rejectors(pod), ElementsAre("NodeResourcesFit"));
  auto node = NodeOf(2, 100);
  node->allocatable.emplace_back("example.com/gpu", 1);
  scene.SetNode(node);
  EXPECT_EQ(scene.Place(pod), "n2");
}

// 500 of 5,000 nodes are enough, so nine attempts in a row see different nodes.
TEST(Placer, LooksOnWhereTheLastAttemptStopped) {
  Scene scene;
  constexpr uint64_t kNodes = 5000;
  for (uint64_t i = 1; i <= kNodes; ++i) scene.SetNode(NodeOf(i, 1000));
  std::set<std::string> nodes;
  for (uint64_t i = 1; i <= 9; ++i) nodes.insert(scene.placer.Decide(*PodOf(i, 1)).node);
  EXPECT_EQ(nodes.size(), 9u);
}

TEST(Placer, LooksAtAllNodesBeforeItGivesUp) {
  Scene scene;
  constexpr uint64_t kNodes = 2000;
  for (uint64_t i = 1; i < kNodes; ++i) scene.SetNode(NodeOf(i, 10));
  scene.SetNode(NodeOf(kNodes, 1000));
  for (uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(scene.placer.Decide(*PodOf(i, 100)).node, "n2000");
}

TEST(Placer, FindsTheOneNodeWithDevices) {
  Scene scene;
  constexpr uint64_t kNodes = 300;
  for (uint64_t i = 1; i <= kNodes; ++i) scene.SetNode(NodeOf(i, 1000));
  auto device_class = std::make_shared<ClusterDeviceClass>();
  device_class->name = "gpu";
  scene.Deliver(Resource::kDeviceClass, nullptr, device_class);
  auto slice = std::make_shared<ClusterSlice>();
  slice->name = "slice";
  slice->slice = Shared(SliceOf("n299", "driver", "pool", {"one"}));
  scene.Deliver(Resource::kResourceSlice, nullptr, slice);
  std::vector<ClusterPodRef> pods;
  for (uint64_t i = 1; i <= 2; ++i) {
    auto claim = std::make_shared<ClusterClaim>();
    claim->name = "c" + std::to_string(i);
    claim->spec = ClaimFor("gpu");
    scene.Deliver(Resource::kResourceClaim, nullptr, claim);
    auto pod = PodOf(i, 1);
    pod->claims = {claim->name};
    pods.push_back(pod);
  }
  Decision first = scene.placer.Decide(*pods[0]);
  EXPECT_EQ(first.node, "n299");
  ASSERT_EQ(first.claims.size(), 1u);
  EXPECT_THAT(NamesOf(*first.claims[0].allocation), ElementsAre("driver/pool/one"));
  // Two threads decide by the same knowledge; the second one to reserve is refused.
  Decision second = scene.placer.Decide(*pods[1]);
  EXPECT_TRUE(scene.cache.Assume(pods[0], &first));
  EXPECT_FALSE(scene.cache.Assume(pods[1], &second));
  EXPECT_THAT(scene.Rejectors(pods[1]), ElementsAre("DynamicResources"));
  scene.cache.Forget(*pods[0], first, 0);
  EXPECT_EQ(scene.Place(pods[1]), "n299");
}

TEST(NodesToFind, FollowsTheSizeOfTheCluster) {
  EXPECT_EQ(NodesToFind(50), 50u);
  EXPECT_EQ(NodesToFind(100), 100u);
  EXPECT_EQ(NodesToFind(500), 230u);
  EXPECT_EQ(NodesToFind(5000), 500u);
  EXPECT_EQ(NodesToFind(20000), 1000u);
}

TEST(SchedulerCache, AnAssumedPodCountsOnceWhenItsNodeIsDelivered) {
  Scene scene;
  scene.SetNode(NodeOf(1, 100));
  scene.SetNode(NodeOf(2, 100));
  auto pod = PodOf(1, 60);
  Decision decision = scene.placer.Decide(*pod);
  ASSERT_TRUE(scene.cache.Assume(pod, &decision));
  EXPECT_TRUE(scene.cache.IsAssumed(1));
  auto bound = std::make_shared<ClusterPod>(*pod);
  bound->node_name = "n1";
  ClusterChange change;
  change.pod_before = pod;
  change.pod_after = bound;
  scene.cache.Apply(change);
  EXPECT_FALSE(scene.cache.IsAssumed(1));
  EXPECT_EQ(scene.Place(PodOf(2, 40)), "n2");
  EXPECT_EQ(scene.Place(PodOf(3, 40)), "n2");
  EXPECT_EQ(scene.Place(PodOf(4, 40)), "n1") << "the pod counts once";
  // The cluster says that it is elsewhere.
  auto elsewhere = std::make_shared<ClusterPod>(*pod);
  elsewhere->node_name = "n2";
  change.pod_after = elsewhere;
  scene.cache.Apply(change);
  EXPECT_EQ(scene.Place(PodOf(5, 60)), "n1");
}

// Threads that assume new pods at the same time meet where the cache grows.
TEST(SchedulerCache, KeepsWhatThreadsAssumeWhileItGrows) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kPods = 40'000;
  Scene scene;
  scene.SetNode(NodeOf(1, kPods, kPods));
  Decision decision = scene.placer.Decide(*PodOf(1, 1));
  decision.assumption = 1;  // Each pod's first.
  std::vector<std::jthread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t number = i; number < kPods; number += kThreads) {
        Decision mine = decision;
        if (!scene.cache.Assume(PodOf(number, 1), &mine)) std::abort();
      }
    });
  }
  threads.clear();
  for (uint64_t number = 0; number < kPods; ++number) {
    ASSERT_TRUE(scene.cache.IsAssumed(number)) << number;
    scene.cache.Forget(*PodOf(number, 1), decision, 0);
  }
  EXPECT_EQ(scene.cache.nodes().BalanceOf(decision.slot).free[kCpuResource],
            static_cast<int64_t>(kPods));
}

// A binding that fails late must not take the place that the pod has by then.
TEST(SchedulerCache, ALateForgetLeavesANewerPlace) {
  Scene scene;
  scene.SetNode(NodeOf(1, 100));
  const auto pod = PodOf(1, 60);
  Decision first = scene.placer.Decide(*pod);
  ASSERT_TRUE(scene.cache.Assume(pod, &first));
  Decision second = first;
  second.claims.clear();
  scene.cache.Forget(*pod, first, 0);
  ASSERT_TRUE(scene.cache.Assume(pod, &second));
  scene.cache.Forget(*pod, first, 0);
  EXPECT_TRUE(scene.cache.IsAssumed(1));
  EXPECT_EQ(scene.Place(PodOf(2, 60)), "") << "the first pod still counts";
}

// A decision is about one version of a node.
TEST(SchedulerCache, RefusesADecisionAboutANodeThatChanged) {
  Scene scene;
  scene.SetNode(NodeOf(1, 100));
  Decision decision = scene.placer.Decide(*PodOf(1, 10));
  scene.SetNode(NodeOf(1, 200));
  EXPECT_FALSE(scene.cache.Assume(PodOf(1, 10), &decision));
}

bool SameNodes(const NodeColumns& a, const NodeColumns& b, size_t kinds) {
  if (a.nodes() != b.nodes() || a.blocks() != b.blocks()) return false;
  for (size_t block = 0; block < a.blocks(); ++block) {
    if (a.known(block) != b.known(block) || a.unschedulable(block) != b.unschedulable(block)) {
      return false;
    }
    for (size_t kind = 0; kind < kinds; ++kind) {
      for (const int64_t amount : {1, 20, 50}) {
        const auto number = static_cast<ResourceKind>(kind);
        if (a.WithFree(block, number, amount) != b.WithFree(block, number, amount)) return false;
      }
    }
  }
  return true;
}

// One round changes more than the ledger's notes hold, so that the copy must read everything anew.
TEST(NodeColumns, FollowTheLedger) {
  NodeLedger ledger;
  NodeColumns followed(&ledger);
  Random random(7);
  std::vector<uint32_t> taken;
  constexpr int kRounds = 40;
  constexpr int kLongRound = 20;
  for (int round = 0; round < kRounds; ++round) {
    const int steps = round == kLongRound ? 70'000 : 50;
    for (int step = 0; step < steps; ++step) {
      const auto number = 1 + random.Below(150);
      const std::string name = "n" + std::to_string(number);
      const NodeDemand demand = ledger.resources().DemandOf(*PodOf(1, 5));
      switch (random.Below(5)) {
        case 0: {
          auto node = NodeOf(number, 60, 100);
          node->unschedulable = random.Below(2) == 0;
          ledger.SetNode(node);
          break;
        }
        case 1:
          if (random.Below(4) == 0) ledger.RemoveNode(name);
          break;
        case 2:
          taken.push_back(ledger.Take(name, demand));
          break;
        case 3:
          if (taken.empty()) break;
          ledger.Give(taken.back(), demand);
          taken.pop_back();
          break;
        default:
          if (const auto slot = ledger.SlotOf(name);
              slot && ledger.Reserve(*slot, ledger.BalanceOf(*slot).node_version, demand)) {
            taken.push_back(*slot);
          }
      }
    }
    followed.Refresh();
    NodeColumns fresh(&ledger);
    fresh.Refresh();
    ASSERT_TRUE(SameNodes(followed, fresh, ledger.resources().size())) << "round " << round;
  }
}

TEST(NodeLedger, ASlotWithoutNodeAndPodsIsUsedAgain) {
  NodeLedger ledger;
  for (uint64_t i = 1; i <= 1000; ++i) {
    ledger.SetNode(NodeOf(i, 100));
    ledger.RemoveNode("n" + std::to_string(i));
  }
  EXPECT_EQ(ledger.slots(), 1u);
}

TEST(NodeLedger, ThreadsNeverOvercommitANode) {
  NodeLedger ledger;
  constexpr int64_t kFits = 40;
  ledger.SetNode(NodeOf(1, 5 * kFits, 1000));
  const uint32_t slot = *ledger.SlotOf("n1");
  const NodeDemand demand = ledger.resources().DemandOf(*PodOf(1, 5));
  const uint64_t version = ledger.BalanceOf(slot).node_version;
  std::atomic<int64_t> on_node{0};
  std::atomic<bool> was_over{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Random random(static_cast<uint64_t>(i));
      int64_t mine = 0;
      for (int step = 0; step < 20'000; ++step) {
        if (mine > 0 && random.Below(2) == 0) {
          --mine;
          on_node.fetch_sub(1);
          ledger.Give(slot, demand);
        } else if (ledger.Reserve(slot, version, demand)) {
          ++mine;
          if (on_node.fetch_add(1) + 1 > kFits) was_over.store(true);
        }
      }
      for (; mine > 0; --mine) {
        on_node.fetch_sub(1);
        ledger.Give(slot, demand);
      }
    });
  }
  threads.clear();
  EXPECT_FALSE(was_over.load());
  EXPECT_EQ(ledger.BalanceOf(slot).free[kCpuResource], 5 * kFits);
}

}  // namespace
}  // namespace schedq
