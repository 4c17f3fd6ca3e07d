// Goal: a claim is stored only while the cluster's own version of claim and pod allows it.
// Method: one pod with a claim, and each way in which the cluster has changed before the storage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"
#include "tests/unit/bench/sim/device_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ClaimStorageTest : public testing::Test {
 protected:
  ClaimStorageTest() {
    EXPECT_TRUE(cluster_.Create(PodObjectNamed("p"), "ns").ok());
    auto claim = std::make_shared<ClusterClaim>();
    claim->namespace_name = "ns";
    claim->name = "c";
    EXPECT_TRUE(cluster_.CreateClaim(std::move(claim)).ok());
    for (const char* node : {"n", "m"}) {
      EXPECT_TRUE(cluster_.Create(NodeObjectNamed(node), "").ok());
    }
    pod_ = cluster_.FindPod(1);
  }
  bool Store(bool allocates, const std::string& node = "n") {
    Decision decision;
    decision.node = node;
    decision.claims = {{"ns/c", false, allocates ? AllocationOf({"g/n/0"}, "n") : nullptr}};
    const PlacingTools tools = {.resources = nullptr, .claims = &claims_, .pods = nullptr};
    const PlacingPluginRef plugin = MakeDynamicResources(tools);
    for (size_t step = 0; step < plugin->PreBindPreFlight(decision); ++step) {
      if (!plugin->PreBind(step, &cluster_, *pod_, decision)) return false;
    }
    return true;
  }
  ClusterClaimRef Stored() const { return cluster_.FindClaim("ns/c"); }

  VirtualClock clock_{Instant()};
  Cluster cluster_{{&clock_, std::chrono::milliseconds(1), true}};
  ClusterPodRef pod_;
  ClaimBook claims_;
};

TEST_F(ClaimStorageTest, AnAllocationIsStoredWithItsReservation) {
  EXPECT_TRUE(Store(true));
  ASSERT_NE(Stored()->allocation, nullptr);
  EXPECT_THAT(NamesOf(*Stored()->allocation), ElementsAre("g/n/0"));
  EXPECT_TRUE(Stored()->has_finalizer);
  EXPECT_THAT(Stored()->reserved_for, ElementsAre(1u));
  EXPECT_FALSE(Store(true)) << "it is allocated meanwhile";
  EXPECT_FALSE(Store(false, "m")) << "it is on another node";
  EXPECT_TRUE(Store(false));
}

// Nobody would end the reservation of a pod that is gone.
TEST_F(ClaimStorageTest, NothingIsStoredForAPodThatIsGone) {
  ASSERT_TRUE(cluster_.DeletePod(1));
  ASSERT_EQ(cluster_.FindPod(1), nullptr);
  for (const bool allocates : {true, false}) EXPECT_FALSE(Store(allocates, allocates ? "n" : ""));
  EXPECT_THAT(Stored()->reserved_for, IsEmpty());
  EXPECT_EQ(Stored()->allocation, nullptr);
  EXPECT_EQ(cluster_.devices().taken(), 0u);
}

TEST_F(ClaimStorageTest, NothingIsStoredForAPodThatIsBeingDeleted) {
  ASSERT_TRUE(cluster_.UpdatePod(1, [](ClusterPod* pod) {
    pod->deleting = true;
    return true;
  }));
  EXPECT_FALSE(Store(true));
  EXPECT_THAT(Stored()->reserved_for, IsEmpty());
}

TEST_F(ClaimStorageTest, AClaimThatIsGoneIsNotStored) {
  ASSERT_TRUE(cluster_.Delete({"ResourceClaim", "ns", "c"}));
  EXPECT_FALSE(Store(true));
}

}  // namespace
}  // namespace schedq
