// Goal: a fault hits what it names, as often as it says, and as long as it says.
// Method: faults on a virtual clock, asked without a cluster; lags in a cluster with a watcher.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/format/workload/fault.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/faults.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class FaultsTest : public testing::Test {
 protected:
  int RefusedOf(int calls, CallKind kind) {
    int refused = 0;
    for (int i = 0; i < calls; ++i) refused += faults_.Refuses(kind) ? 1 : 0;
    return refused;
  }

  VirtualClock clock_{Instant(seconds(1000))};
  Faults faults_{&clock_, Random(3)};
};

TEST_F(FaultsTest, ErrorsHitTheCallsThatTheyName) {
  faults_.Begin({.kind = FaultKind::kErrors, .calls = *ParseCallKind("bind")});
  EXPECT_EQ(RefusedOf(10, CallKind::kBind), 10);
  EXPECT_EQ(RefusedOf(10, CallKind::kPatch), 0);
}

TEST_F(FaultsTest, AShareOfTheCallsIsRefused) {
  faults_.Begin({.kind = FaultKind::kErrors, .percent = 20});
  const int refused = RefusedOf(10'000, CallKind::kPatch);
  EXPECT_GT(refused, 1800);
  EXPECT_LT(refused, 2200);
}

TEST_F(FaultsTest, AFaultBeginsAndEndsWhenItSays) {
  EXPECT_FALSE(faults_.HasRefused());
  faults_.Begin({.kind = FaultKind::kErrors, .after = seconds(2), .duration = seconds(3)});
  EXPECT_FALSE(faults_.Refuses(CallKind::kBind));
  clock_.AdvanceBy(seconds(2));
  EXPECT_TRUE(faults_.Refuses(CallKind::kBind));
  clock_.AdvanceBy(seconds(3) - milliseconds(1));
  EXPECT_TRUE(faults_.Refuses(CallKind::kBind));
  clock_.AdvanceBy(milliseconds(1));
  EXPECT_FALSE(faults_.Refuses(CallKind::kBind));
  EXPECT_TRUE(faults_.HasRefused());
}

TEST_F(FaultsTest, SlowControllersAddUp) {
  EXPECT_EQ(faults_.ControllerDelay(), Duration(0));
  faults_.Begin({.kind = FaultKind::kControllers, .delay = seconds(1)});
  faults_.Begin({.kind = FaultKind::kControllers, .duration = seconds(5), .delay = seconds(2)});
  EXPECT_EQ(faults_.ControllerDelay(), Duration(seconds(3)));
  clock_.AdvanceBy(seconds(5));
  EXPECT_EQ(faults_.ControllerDelay(), Duration(seconds(1)));
}

TEST_F(FaultsTest, ChangesOfAKindKeepTheirOrderWhateverTheyLag) {
  faults_.Begin({.kind = FaultKind::kLag,
                 .duration = seconds(1),
                 .of = Resource::kPod,
                 .delay = milliseconds(10),
                 .jitter = milliseconds(100)});
  Instant last{};
  bool varies = false;
  for (int i = 0; i < 1500; ++i) {
    clock_.AdvanceBy(milliseconds(1));
    const Instant due = clock_.Now() + milliseconds(1);
    EXPECT_EQ(faults_.DeliveryOf(Resource::kNode, due), due);
    const Instant at = faults_.DeliveryOf(Resource::kPod, due);
    EXPECT_GE(at, last);
    varies |= at > due + milliseconds(50);
    last = at;
  }
  EXPECT_TRUE(varies);
  EXPECT_EQ(last, clock_.Now() + milliseconds(1)) << "the fault is over, and so is its lag";
  EXPECT_GT(faults_.longest_lag(), Duration(milliseconds(50)));
  EXPECT_LE(faults_.longest_lag(), Duration(milliseconds(110)));
}

// What comes at once without a lag waits for what was delivered before it.
TEST(LagTest, KindsAreJumbledAndEachObjectsVersionsAreNot) {
  for (const bool delivers_at_once : {false, true}) {
    VirtualClock clock{Instant(seconds(1000))};
    Cluster cluster({.clock = &clock, .delivers_at_once = delivers_at_once});
    std::vector<std::string> seen;
    cluster.Watch([&seen](const ClusterChange& change) {
      seen.push_back(change.resource == Resource::kPod ? "pod" : "node");
    });
    cluster.faults().Begin({.kind = FaultKind::kLag,
                            .duration = milliseconds(5),
                            .of = Resource::kPod,
                            .delay = milliseconds(20)});
    ASSERT_TRUE(cluster.Create(PodObjectNamed("p"), "ns"));
    ASSERT_TRUE(cluster.Create(NodeObjectNamed("n"), "ns"));
    clock.AdvanceBy(milliseconds(6));
    EXPECT_EQ(seen, std::vector<std::string>{"node"});
    cluster.DeletePod(1);
    clock.AdvanceBy(milliseconds(13));
    EXPECT_EQ(seen.size(), 1u) << "the deletion overtook the pod";
    clock.AdvanceBy(milliseconds(5));
    EXPECT_EQ(seen, (std::vector<std::string>{"node", "pod", "pod"}));
  }
}

}  // namespace
}  // namespace schedq
