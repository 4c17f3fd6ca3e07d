// Goal: kinds of resources without a column of their own count as those with one do: any number of
// them, for filters, reservations, preemption and pods of unknown nodes.
// Method: a map as the model, against random changes; small clusters in which a rare kind decides
// alone; real threads that fight for one node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/node_ledger.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/rare_columns.h"
#include "bench/sim/placing/resource_table.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "engine/base/random.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

std::string KindName(uint64_t number) { return "foo.com/bar-" + std::to_string(number); }

// Pods and nodes of these kinds, beside those of PodOf and NodeOf.
std::shared_ptr<ClusterPod> PodWanting(uint64_t number, const ResourceList& further) {
  auto pod = PodOf(number, 1);
  pod->requests.insert(pod->requests.end(), further.begin(), further.end());
  return pod;
}
std::shared_ptr<ClusterNode> NodeHaving(uint64_t number, const ResourceList& further) {
  auto node = NodeOf(number, 1000);
  node->allocatable.insert(node->allocatable.end(), further.begin(), further.end());
  return node;
}

// A table whose columns are given out.
void GiveOutColumns(ResourceTable* table) {
  for (uint64_t i = 0; table->columns() < kColumnKinds; ++i) {
    table->FindOrAdd("common-" + std::to_string(i));
  }
}

TEST(ResourceTable, KindsHaveNumbersWithoutEnd) {
  ResourceTable table;
  constexpr uint64_t kKinds = 5000;
  for (uint64_t i = 0; i < kKinds; ++i) table.FindOrAdd(KindName(i));
  const size_t before = table.size();
  EXPECT_EQ(before, kKinds + 5);
  for (uint64_t i = 0; i < kKinds; ++i) {
    const ResourceKind kind = table.FindOrAdd(KindName(i));
    ASSERT_EQ(table.Find(KindName(i)), kind);
    ASSERT_EQ(kind, i + 5);
  }
  EXPECT_EQ(table.size(), before);
  EXPECT_EQ(table.Find("another"), std::nullopt);
}

TEST(ResourceTable, APodMayAskForMoreKindsThanHaveColumns) {
  ResourceTable table;
  GiveOutColumns(&table);
  ResourceList wanted;
  for (uint64_t i = 1; i <= 30; ++i) wanted.emplace_back(KindName(i), i);
  wanted.emplace_back("memory", 7);
  const NodeDemand demand = table.DemandOf(*PodWanting(1, wanted));
  EXPECT_FALSE(demand.fits_nowhere);
  EXPECT_EQ(demand.AmountOf(kPodsResource), 1);
  EXPECT_EQ(demand.rare.size(), 30u);
  EXPECT_EQ(demand.AmountOf(kMemoryResource), 7);
  EXPECT_EQ(demand.AmountOf(*table.Find(KindName(30))), 30);
  EXPECT_EQ(demand, table.DemandOf(*PodWanting(2, wanted)));
  wanted[3].second = 5;
  EXPECT_FALSE(demand == table.DemandOf(*PodWanting(3, wanted)));
}

TEST(RareColumns, NodesComeInAnyOrder) {
  RareColumns columns;
  constexpr auto kKind = static_cast<ResourceKind>(kColumnKinds + 3);
  for (const uint32_t slot : {130u, 5u, 64u, 63u, 200u}) columns.Set({slot, slot, 2 * slot}, kKind);
  columns.Set({64, 1, 9}, kKind);
  EXPECT_EQ(columns.Of(130, kKind).free, 130);
  EXPECT_EQ(columns.Of(64, kKind).limit, 9);
  EXPECT_EQ(columns.Of(6, kKind).limit, 0);
  EXPECT_EQ(columns.Of(5, kKind + 1).free, 0);
  EXPECT_EQ(columns.WithFree(0, kKind, 5), uint64_t{1} << 5 | uint64_t{1} << 63);
  EXPECT_EQ(columns.WithFree(0, kKind, 6), uint64_t{1} << 63);
  EXPECT_EQ(columns.WithFree(64, kKind, 1), 1u);
  EXPECT_EQ(columns.WithFree(64, kKind, 2), 0u);
  EXPECT_EQ(columns.WithFree(128, kKind, 130), uint64_t{1} << 2);
  EXPECT_EQ(columns.WithFree(128, kKind - 1, 1), 0u);
}

class RareLedgerTest : public testing::Test {
 protected:
  RareLedgerTest() { GiveOutColumns(&ledger_.resources()); }

  NodeDemand DemandFor(uint64_t kind, int64_t amount) {
    return ledger_.resources().DemandOf(*PodWanting(1, {{KindName(kind), amount}}));
  }

  NodeLedger ledger_;
};

TEST_F(RareLedgerTest, CopiesFollowAsAModelDoes) {
  constexpr uint64_t kNodes = 150;
  constexpr uint64_t kKinds = 40;
  NodeColumns followed(&ledger_);
  Random random(11);
  std::map<std::pair<uint32_t, uint64_t>, int64_t> limits;                 // By slot and kind.
  std::map<std::pair<uint32_t, uint64_t>, int64_t> used;                   // The same.
  std::vector<std::tuple<uint32_t, uint64_t, int64_t, NodeDemand>> taken;  // Slot, kind, amount.
  for (int round = 0; round < 30; ++round) {
    for (int step = 0; step < 60; ++step) {
      const uint64_t number = 1 + random.Below(kNodes);
      const uint64_t kind = random.Below(kKinds);
      const auto amount = static_cast<int64_t>(1 + random.Below(4));
      const NodeDemand demand = DemandFor(kind, amount);
      const uint64_t what = random.Below(4);
      if (what == 0) {
        const uint64_t other = random.Below(kKinds);
        ResourceList has = {{KindName(kind), 6}};
        if (other != kind) has.emplace_back(KindName(other), 3);
        const uint32_t slot = ledger_.SetNode(NodeHaving(number, has));
        for (uint64_t each = 0; each < kKinds; ++each) limits[{slot, each}] = 0;
        limits[{slot, other}] = 3;
        limits[{slot, kind}] = 6;
      } else if (what == 1 && !taken.empty()) {
        const auto& [slot, of, back, parts] = taken.back();
        ledger_.Give(slot, parts);
        used[{slot, of}] -= back;
        taken.pop_back();
      } else if (what == 2) {
        const uint32_t slot = ledger_.Take("n" + std::to_string(number), demand);
        used[{slot, kind}] += amount;
        taken.emplace_back(slot, kind, amount, demand);
      } else if (const auto slot = ledger_.SlotOf("n" + std::to_string(number))) {
        const bool has_node = ledger_.NodeAt(*slot) != nullptr;
        const bool fits = used[{*slot, kind}] + amount <= limits[{*slot, kind}];
        const bool granted = ledger_.Reserve(*slot, ledger_.BalanceOf(*slot).node_version, demand);
        if (has_node && !fits) {
          ASSERT_FALSE(granted);
        }
        if (!granted) continue;
        used[{*slot, kind}] += amount;
        taken.emplace_back(*slot, kind, amount, demand);
      }
    }
    followed.Refresh();
    NodeColumns fresh(&ledger_);
    fresh.Refresh();
    for (const NodeColumns* columns : {&followed, &fresh}) {
      for (uint64_t each = 0; each < kKinds; ++each) {
        const ResourceKind kind = ledger_.resources().FindOrAdd(KindName(each));
        ASSERT_FALSE(HasColumn(kind));
        for (uint32_t slot = 0; slot < ledger_.slots(); ++slot) {
          const int64_t free = limits[{slot, each}] - used[{slot, each}];
          ASSERT_EQ(columns->free(slot, kind), free) << "round " << round << ", slot " << slot;
          ASSERT_EQ(columns->limit(slot, kind), (limits[{slot, each}]));
          const uint64_t with = columns->WithFree(slot / kNodesPerBlock, kind, 2);
          ASSERT_EQ((with >> slot % kNodesPerBlock & 1) != 0, free >= 2);
        }
      }
    }
  }
}

TEST_F(RareLedgerTest, WhatIsRefusedLeavesNothingBehind) {
  ledger_.SetNode(NodeHaving(1, {{KindName(1), 5}}));
  const uint64_t version = ledger_.BalanceOf(0).node_version;
  const NodeDemand both =
      ledger_.resources().DemandOf(*PodWanting(1, {{KindName(1), 2}, {KindName(2), 1}}));
  EXPECT_FALSE(ledger_.Reserve(0, version, both)) << "the node has nothing of the second kind";
  EXPECT_FALSE(ledger_.Reserve(0, version, DemandFor(1, 6)));
  EXPECT_TRUE(ledger_.Reserve(0, version, DemandFor(1, 5)));
  EXPECT_EQ(ledger_.BalanceOf(0).free[kCpuResource], 999);
  EXPECT_EQ(ledger_.BalanceOf(0).free[kPodsResource], 9);
}

TEST_F(RareLedgerTest, ThreadsNeverOvercommitANode) {
  constexpr int64_t kFits = 7;
  const uint32_t slot = ledger_.SetNode(NodeHaving(1, {{KindName(1), 2 * kFits}}));
  const NodeDemand demand = DemandFor(1, 2);
  const uint64_t version = ledger_.BalanceOf(slot).node_version;
  std::atomic<int64_t> on_node{0};
  std::atomic<bool> was_over{false};
  std::vector<std::jthread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Random random(i);
      int64_t mine = 0;
      for (int step = 0; step < 10'000; ++step) {
        // Another kind of the node is named beside what the threads do.
        if (i == 0 && step % 100 == 0)
          ledger_.Give(ledger_.Take("n1", DemandFor(step, 1)), DemandFor(step, 1));
        if (mine > 0 && random.Below(2) == 0) {
          --mine;
          on_node.fetch_sub(1);
          ledger_.Give(slot, demand);
        } else if (ledger_.Reserve(slot, version, demand)) {
          ++mine;
          if (on_node.fetch_add(1) + 1 > kFits) was_over.store(true);
        }
      }
      for (; mine > 0; --mine) {
        on_node.fetch_sub(1);
        ledger_.Give(slot, demand);
      }
    });
  }
  threads.clear();
  EXPECT_FALSE(was_over.load());
  NodeColumns columns(&ledger_);
  columns.Refresh();
  EXPECT_EQ(columns.used(slot, *ledger_.resources().Find(KindName(1))), 0);
}

class RareKindsTest : public testing::Test {
 protected:
  void Deliver(Resource resource, ObjectRef before, ObjectRef after) {
    ClusterChange change;
    change.resource = resource;
    change.objects = {std::move(before), std::move(after)};
    cache_.Apply(change);
  }
  // Decides and assumes; empty: no node.
  std::string Place(const ClusterPodRef& pod) {
    Decision decision = placer_.Decide(*pod);
    if (!decision.node.empty()) {
      EXPECT_TRUE(cache_.Assume(pod, &decision));
    }
    return decision.node;
  }
  void Run(const ClusterPodRef& pod) {
    ClusterChange change;
    change.pod_after = pod;
    cache_.Apply(change);
  }
  void Delete(const ClusterPodRef& pod) {
    ClusterChange change;
    change.pod_before = pod;
    cache_.Apply(change);
  }

  SchedulerCache cache_;
  Placer placer_{&cache_};
};

TEST_F(RareKindsTest, EachNodeMayHaveAKindOfItsOwn) {
  constexpr uint64_t kNodes = 200;
  for (uint64_t i = 1; i <= kNodes; ++i) {
    Deliver(Resource::kNode, nullptr, NodeHaving(i, {{KindName(i), 1}}));
  }
  std::vector<ClusterPodRef> pods;
  for (uint64_t i = 1; i <= kNodes; ++i) {
    pods.push_back(PodWanting(i, {{KindName(i), 1}}));
    ASSERT_EQ(Place(pods.back()), "n" + std::to_string(i));
  }
  EXPECT_EQ(Place(PodWanting(kNodes + 1, {{KindName(150), 1}})), "") << "it has one";
  EXPECT_EQ(Place(PodWanting(kNodes + 2, {{KindName(kNodes + 1), 1}})), "") << "no node has it";
  Delete(pods[149]);
  EXPECT_EQ(Place(PodWanting(kNodes + 3, {{KindName(150), 2}})), "");
  EXPECT_EQ(Place(PodWanting(kNodes + 4, {{KindName(150), 1}})), "n150");
}

TEST_F(RareKindsTest, PreemptionFreesThem) {
  for (uint64_t i = 1; i <= 40; ++i) {
    Deliver(Resource::kNode, nullptr, NodeHaving(i, {{KindName(i), 2}}));
  }
  for (const uint64_t number : {1, 2}) {
    auto pod = PodWanting(number, {{KindName(40), 1}});
    pod->node_name = "n40";
    pod->priority = static_cast<int32_t>(number);
    Run(pod);
  }
  auto pod = PodWanting(3, {{KindName(40), 1}});
  pod->priority = 5;
  const Decision decision = placer_.Decide(*pod);
  EXPECT_EQ(decision.node, "");
  ASSERT_NE(decision.post_filter, nullptr);
  EXPECT_EQ(decision.post_filter->node, "n40");
  ASSERT_EQ(decision.post_filter->victims.size(), 1u);
  EXPECT_EQ(decision.post_filter->victims[0]->number, 1u);
}

}  // namespace
}  // namespace schedq
