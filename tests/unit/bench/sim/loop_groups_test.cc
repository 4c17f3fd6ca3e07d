// Goal: what becomes of a group's members between their decision and the end of their group's cycle
// is not forgotten, and is measured as upstream measures it.
// Method: a small cluster on a virtual clock on which an attempt takes long, so that changes come
// amid a cycle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/scheduler_loop.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/gates.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;

CostModel CostsOf(Duration attempt) {
  Result<CostModel> costs = LoadCostModel("upstream");
  SCHEDQ_CHECK(costs.ok(), "the cost model in the program is well-formed");
  costs->attempt = attempt;
  return *costs;
}

SchedulerLoopOptions OptionsOf(Cluster* cluster, const CostModel* costs) {
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  SchedulerLoopOptions options;
  options.cluster = cluster;
  options.costs = costs;
  options.queue.gates = *Gates::Resolve(request);
  options.random = Random(1);
  return options;
}

class LoopGroups : public testing::Test {
 protected:
  LoopGroups() { Create(NodeObjectNamed("n")); }
  void AddGang(int needed) {
    Create(
        ObjectFrom("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
                   "spec: {schedulingPolicy: {gang: {minCount: " +
                   std::to_string(needed) + "}}}\n"));
  }
  void Create(const ApiObjectRef& object) { ASSERT_TRUE(cluster_.Create(object, "ns").ok()); }
  uint64_t AddMember(const std::string& name, const std::string& cpu = "100m") {
    Create(PodObjectNamed(name, cpu, "  schedulingGroup: {podGroupName: g}\n"));
    return cluster_.pods().last();
  }
  void Pass(int count) { clock_.AdvanceBy(milliseconds(count)); }
  std::string NodeOf(uint64_t pod) const { return cluster_.FindPod(pod)->node_name; }

  const CostModel costs_ = CostsOf(milliseconds(100));
  VirtualClock clock_{Instant(std::chrono::seconds(1000))};
  Cluster cluster_{{&clock_, costs_.informer_delay, true}};
  SchedulerLoop scheduler_{OptionsOf(&cluster_, &costs_)};
};

// The other member waits for one more, and goes with the one that comes later.
TEST_F(LoopGroups, AMemberThatIsDeletedAmidItsCycleDoesNotCompleteItsGang) {
  AddGang(2);
  const uint64_t gone = AddMember("a");
  const uint64_t stays = AddMember("b");
  Pass(100);
  ASSERT_TRUE(scheduler_.IsOnItsWay(*cluster_.FindPod(gone))) << "amid the cycle";
  cluster_.DeletePod(gone);
  Pass(3000);
  EXPECT_EQ(NodeOf(stays), "");
  EXPECT_TRUE(scheduler_.IsOnItsWay(*cluster_.FindPod(stays)));
  const uint64_t late = AddMember("c");
  Pass(3000);
  EXPECT_EQ(NodeOf(stays), "n");
  EXPECT_EQ(NodeOf(late), "n");
}

// The first member fits and the second does not, each after a tenth of a second. Nobody tries the
// third, whose attempt takes no time.
TEST_F(LoopGroups, AMembersAttemptIsAsLongAsItsOwnTrial) {
  for (const char* const name : {"a", "b", "c"}) AddMember(name, "3");
  AddGang(3);
  Pass(900);
  const auto durations = scheduler_.metrics().registry().HistogramAt(
      "scheduler_scheduling_attempt_duration_seconds", {"unschedulable", "default-scheduler"});
  ASSERT_TRUE(durations.has_value());
  EXPECT_EQ(durations->count, 3u);
  EXPECT_GE(durations->sum, 0.2);
  EXPECT_LT(durations->sum, 0.22);
}

}  // namespace
}  // namespace schedq
