// Goal: QueueWatch counts waits, inversions and idle time as its header defines them, and the
// rejected alternatives do what their names say.
// Method: moves of pods by hand on a virtual clock; for the alternatives a small simulated cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/queue/queue_driver.h"
#include "bench/sim/queue/queue_watch.h"
#include "bench/sim/queue/rejected_alternatives.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/scheduler_loop.h"
#include "engine/base/names/interner.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

class QueueWatchTest : public testing::Test {
 protected:
  QueueWatchTest() {
    watch_.ListenToWaits([this](Duration waited) { waits_.push_back(waited); });
  }
  static std::shared_ptr<ClusterPod> PodOf(uint64_t number, int32_t priority = 0) {
    auto pod = std::make_shared<ClusterPod>();
    pod->number = number;
    pod->priority = priority;
    return pod;
  }
  void Move(const PodRef& pod, Place from, Place to) { watch_.OnMoved(pod, from, to, kNoLabel); }
  void Pass(int amount) { clock_.AdvanceBy(milliseconds(amount)); }

  VirtualClock clock_{Instant(std::chrono::seconds(1000))};
  QueueWatch watch_{&clock_};
  std::vector<Duration> waits_;
};

TEST_F(QueueWatchTest, AWaitGoesOnFromBackoffToActiveAndEndsWithThePop) {
  const auto pod = PodOf(1);
  Move(pod, Place::kUnschedulable, Place::kBackoff);
  Pass(30);
  Move(pod, Place::kBackoff, Place::kActive);
  Pass(10);
  Move(pod, Place::kActive, Place::kInFlight);
  EXPECT_THAT(waits_, ElementsAre(milliseconds(40)));
  Move(pod, Place::kInFlight, Place::kErrorBackoff);
  Pass(500);
  Move(pod, Place::kErrorBackoff, Place::kActive);
  Pass(5);
  Move(pod, Place::kActive, Place::kAbsent);
  EXPECT_EQ(waits_.size(), 1u) << "error backoff is meant to keep it, and a deletion is no pop";
}

TEST_F(QueueWatchTest, AnInversionNeedsAHigherOneThatWaits) {
  const auto high = PodOf(1, 9);
  watch_.CountPlaced(*PodOf(2, 1));
  EXPECT_EQ(watch_.inversions(), 0u);
  Move(high, Place::kAbsent, Place::kBackoff);
  watch_.CountPlaced(*PodOf(3, 9));
  EXPECT_EQ(watch_.inversions(), 0u);
  watch_.CountPlaced(*PodOf(2, 1));
  EXPECT_EQ(watch_.inversions(), 1u);
  Move(high, Place::kBackoff, Place::kUnschedulable);
  watch_.CountPlaced(*PodOf(2, 1));
  EXPECT_EQ(watch_.inversions(), 1u);
}

TEST_F(QueueWatchTest, IdleTimeNeedsAnIdleThreadAndAPodInBackoff) {
  const auto pod = PodOf(1);
  Pass(100);
  EXPECT_EQ(watch_.idle(), Duration(0));
  Move(pod, Place::kAbsent, Place::kBackoff);
  Pass(20);
  EXPECT_EQ(watch_.idle(), milliseconds(20));
  watch_.SetIdle(false);
  Pass(50);
  watch_.SetIdle(true);
  Pass(3);
  EXPECT_EQ(watch_.idle(), milliseconds(23));
  Move(pod, Place::kBackoff, Place::kActive);
  Pass(100);
  EXPECT_EQ(watch_.idle(), milliseconds(23));
}

std::shared_ptr<ClusterClaim> ClaimOf(const std::string& owner) {
  auto claim = std::make_shared<ClusterClaim>();
  claim->resource = Resource::kResourceClaim;
  claim->namespace_name = "ns";
  claim->name = "c";
  claim->owner_pod_name = owner;
  return claim;
}

TEST(PodOwningClaim, ListsTheOwnerAndNobodyElse) {
  Interner names;
  const uint32_t owner = names.Acquire("ns/owner");
  const auto ask = PodOwningClaim(&names);
  PodList pods;
  EXPECT_EQ(ask({nullptr, ClaimOf("owner")}, &pods), PreHint::kListed);
  EXPECT_THAT(pods, ElementsAre(owner));
  pods.clear();
  EXPECT_EQ(ask({nullptr, ClaimOf("gone")}, &pods), PreHint::kListed);
  EXPECT_THAT(pods, IsEmpty());
  EXPECT_EQ(ask({nullptr, ClaimOf("")}, &pods), PreHint::kAllPods);
  const auto held = ClaimOf("owner");
  held->allocated = true;
  EXPECT_EQ(ask({held, ClaimOf("owner")}, &pods), PreHint::kAllPods) << "devices came free";
}

// With the gate off a pod in backoff waits for its expiration. The alternative pops it in the next
// second in which active is empty.
TEST(FlushWhenEmpty, TakesPodsOutOfBackoffBeforeTheirTime) {
  const auto scheduled_after = [](int flushed) {
    const CostModel costs = *LoadCostModel("upstream");
    VirtualClock clock{Instant(std::chrono::seconds(1000))};
    Cluster cluster{{&clock, costs.informer_delay, true}};
    GateRequest request;
    request.Set(Gate::kSchedulerPopFromBackoffQ, false);
    QueueDriverOptions queue;
    queue.gates = *Gates::Resolve(request);
    queue.backoff = {std::chrono::seconds(5), std::chrono::seconds(5)};
    queue.alternatives.flushed_when_empty = flushed;
    SchedulerLoop scheduler{{&cluster, &costs, queue, Random(1)}};
    EXPECT_TRUE(cluster.Create(NodeObjectNamed("small", "1"), "").ok());
    EXPECT_TRUE(cluster.Create(PodObjectNamed("p", "3"), "ns").ok());
    clock.AdvanceBy(milliseconds(100));
    EXPECT_TRUE(cluster.Create(NodeObjectNamed("large"), "").ok());
    int seconds = 0;
    while (cluster.FindPod(1)->node_name.empty() && seconds < 20) {
      clock.AdvanceBy(std::chrono::seconds(1));
      ++seconds;
    }
    return seconds;
  };
  EXPECT_EQ(scheduled_after(1), 1);
  EXPECT_GE(scheduled_after(0), 5);
}

}  // namespace
}  // namespace schedq
