// Goal: the simulated scheduler binds pods that fit, and fails others with the plugins that
// rejected them. Changes wake it, and it turns each change into the events that the real handlers
// send.
// Method: a small cluster on a virtual clock; the queue's counters show the operations that it got.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/audit.h"
#include "bench/sim/cluster/claim_controller.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/scheduler_loop.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"
#include "tests/unit/bench/sim/device_test_objects.h"

namespace schedq {
namespace {

using testing::Contains;
using testing::IsEmpty;

CostModel Costs() {
  Result<CostModel> costs = LoadCostModel("upstream");
  SCHEDQ_CHECK(costs.ok(), "the cost model in the program is well-formed");
  return *costs;
}

class SchedulerTest : public testing::Test {
 protected:
  uint64_t Create(const ApiObjectRef& object) {
    EXPECT_TRUE(cluster_.Create(object, "ns").ok());
    return cluster_.pods().empty() ? 0 : cluster_.pods().last();
  }
  void CreateDevices(const std::string& node) {
    Create(
        ObjectFrom("apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gadget}\n"
                   "spec: {selectors: [{cel: {expression: 'device.driver == \"g\"'}}]}\n"));
    Create(
        ObjectFrom("apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
                   "spec: {driver: g, nodeName: " +
                   node +
                   ", pool: {name: p, generation: 1, resourceSliceCount: 1}, "
                   "devices: [{name: a}]}\n"));
  }
  void CreateClaim(const std::string& name) {
    Create(
        ObjectFrom("apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name +
                   "}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: "
                   "gadget}}]}}\n"));
  }
  static ApiObjectRef PodWithClaim(const std::string& name, const std::string& claim) {
    return PodObjectNamed(name, "1m",
                          "  resourceClaims: [{name: d, resourceClaimName: " + claim + "}]\n");
  }
  void Pass(int milliseconds) { clock_.AdvanceBy(std::chrono::milliseconds(milliseconds)); }
  std::string NodeOf(uint64_t pod) const { return cluster_.FindPod(pod)->node_name; }
  Place PlaceOf(const std::string& pod) const {
    return scheduler_.queue().queue().Where("ns/" + pod).place;
  }
  std::vector<std::string> RejectorsOf(const std::string& pod) const {
    std::vector<std::string> names;
    scheduler_.queue().queue().Where("ns/" + pod).fields.Rejectors().ForEach([&](PluginId id) {
      names.push_back(scheduler_.queue().plugins().plugin(id).name);
    });
    return names;
  }
  uint64_t Handled(const std::string& event) const {
    const auto value = scheduler_.metrics().registry().HistogramAt(
        "scheduler_event_handling_duration_seconds", {event});
    return value ? value->count : 0;
  }
  std::vector<std::string> Audit() const {
    return AuditCluster(cluster_, {[&](const ClusterPod& pod) { return scheduler_.Knows(pod); }});
  }

  const CostModel costs_ = Costs();
  VirtualClock clock_{Instant(std::chrono::seconds(1000))};
  Cluster cluster_{{&clock_, costs_.informer_delay, true}};
  ClaimController controller_{&cluster_, {1, [] { return std::chrono::milliseconds(1); }}};
  SchedulerLoop scheduler_{{&cluster_, &costs_, {}, Random(1)}};
};

TEST_F(SchedulerTest, BindsWhatFits) {
  Create(NodeObjectNamed("n"));
  const uint64_t pod = Create(PodObjectNamed("p"));
  Pass(100);
  EXPECT_EQ(NodeOf(pod), "n");
  EXPECT_EQ(PlaceOf("p"), Place::kAbsent);
  EXPECT_EQ(Handled("NodeAdd"), 1u);
  EXPECT_EQ(Handled("AssignedPodAdd"), 1u);
  EXPECT_EQ(Handled("UnscheduledPodAdd"), 1u);
  EXPECT_THAT(Audit(), IsEmpty());
}

TEST_F(SchedulerTest, FailsWithThePluginsThatRejectedAndTellsTheCluster) {
  Create(NodeObjectNamed("n"));
  const uint64_t pod = Create(PodObjectNamed("p", "5"));
  Pass(100);
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  EXPECT_THAT(RejectorsOf("p"), testing::ElementsAre("NodeResourcesFit"));
  const PodCondition* condition = FindCondition(*cluster_.FindPod(pod), kPodScheduledCondition);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->reason, "Unschedulable");
  Create(NodeObjectNamed("small"));
  Pass(100);
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable) << "a node that is too small wakes nobody";
  Create(NodeObjectNamed("big", "8"));
  Pass(3000);
  EXPECT_EQ(NodeOf(pod), "big");
}

TEST_F(SchedulerTest, ADeletedPodMakesRoom) {
  Create(NodeObjectNamed("n", "1"));
  const uint64_t first = Create(PodObjectNamed("a", "1"));
  Pass(100);
  const uint64_t second = Create(PodObjectNamed("b", "1"));
  Pass(100);
  EXPECT_EQ(NodeOf(second), "");
  cluster_.DeletePod(first);
  Pass(3000);
  EXPECT_EQ(Handled("AssignedPodDelete"), 1u);
  EXPECT_EQ(NodeOf(second), "n");
}

TEST_F(SchedulerTest, GatedPodsStayOutUntilTheirLastGateGoes) {
  Create(NodeObjectNamed("n"));
  const uint64_t pod = Create(PodObjectNamed("p", "1", "  schedulingGates: [{name: g}]\n"));
  Pass(100);
  EXPECT_EQ(PlaceOf("p"), Place::kGated);
  cluster_.UpdatePod(pod, [](ClusterPod* after) {
    after->scheduling_gates.clear();
    return true;
  });
  Pass(100);
  EXPECT_EQ(NodeOf(pod), "n");
}

TEST_F(SchedulerTest, APodThatIsBeingDeletedIsSkipped) {
  const uint64_t pod =
      Create(ObjectFrom("apiVersion: v1\nkind: Pod\nmetadata: {name: p, finalizers: [f/x]}\n"
                        "spec: {containers: [{name: c, image: i}]}\n"));
  cluster_.DeletePod(pod);
  Create(NodeObjectNamed("n"));
  Pass(3000);
  EXPECT_EQ(NodeOf(pod), "");
  EXPECT_EQ(scheduler_.queue().queue().Counts().in_flight, 0u) << "nothing stays in flight";
}

TEST_F(SchedulerTest, APodDeletedWhileItIsBoundFreesItsNode) {
  Create(NodeObjectNamed("n", "1"));
  const uint64_t first = Create(PodObjectNamed("a", "1"));
  // The attempt has decided by now, but the binding has not reached the API server.
  Pass(2);
  ASSERT_EQ(NodeOf(first), "");
  cluster_.DeletePod(first);
  const uint64_t second = Create(PodObjectNamed("b", "1"));
  Pass(3000);
  EXPECT_EQ(NodeOf(second), "n");
  EXPECT_THAT(Audit(), IsEmpty());
}

TEST_F(SchedulerTest, ClaimsAreAllocatedWhereTheirDevicesAre) {
  Create(NodeObjectNamed("m"));
  Create(NodeObjectNamed("n"));
  CreateDevices("n");
  CreateClaim("c");
  const uint64_t pod = Create(PodWithClaim("p", "c"));
  Pass(200);
  EXPECT_EQ(NodeOf(pod), "n");
  const ClusterClaimRef claim = cluster_.FindClaim("ns/c");
  EXPECT_THAT(NamesOf(*claim->allocation), testing::ElementsAre("g/p/a"));
  EXPECT_THAT(claim->reserved_for, testing::ElementsAre(pod));
  EXPECT_EQ(Handled("resource.k8s.io/ResourceClaimAdd"), 1u);
  EXPECT_EQ(Handled("resource.k8s.io/ResourceClaimUpdate"), 2u)
      << "the finalizer goes ahead of the allocation";
  EXPECT_THAT(Audit(), IsEmpty());
}

// KEP-5278: the patch of the pod's node is a call of its own, beside those that store its claim.
TEST_F(SchedulerTest, ClaimsAreStoredBesideTheNominationAndBeforeTheBinding) {
  Create(NodeObjectNamed("n"));
  CreateDevices("n");
  CreateClaim("c");
  Pass(5);
  const uint64_t pod = Create(PodWithClaim("p", "c"));
  bool was_nominated_first = false;
  bool began_together = false;
  for (int step = 0; step < 200 && NodeOf(pod).empty(); ++step) {
    Pass(1);
    const ClusterClaimRef claim = cluster_.FindClaim("ns/c");
    const bool is_nominated = cluster_.FindPod(pod)->nominated_node_name == "n";
    EXPECT_TRUE(NodeOf(pod).empty() || claim->allocation != nullptr) << "after " << step << " ms";
    was_nominated_first |= is_nominated && claim->allocation == nullptr;
    began_together |= claim->has_finalizer && !was_nominated_first;
  }
  EXPECT_EQ(NodeOf(pod), "n");
  EXPECT_TRUE(began_together || was_nominated_first);
  const LabelValues stored = {"pre_bind"};
  EXPECT_EQ(scheduler_.metrics().registry().Value("schedq_direct_api_calls_total", stored), 2)
      << "the finalizer and the allocation";
  const LabelValues patches = {"pod_status_patch", "success"};
  EXPECT_EQ(
      scheduler_.metrics().registry().Value("scheduler_async_api_call_execution_total", patches),
      1);
}

TEST_F(SchedulerTest, APodMayNameAClaimTwice) {
  Create(NodeObjectNamed("n"));
  CreateDevices("n");
  CreateClaim("c");
  const uint64_t pod =
      Create(PodObjectNamed("p", "1m",
                            "  resourceClaims: [{name: d, resourceClaimName: c}, {name: e, "
                            "resourceClaimName: c}]\n"));
  Pass(200);
  EXPECT_EQ(NodeOf(pod), "n");
  EXPECT_THAT(cluster_.FindClaim("ns/c")->reserved_for, testing::ElementsAre(pod));
  EXPECT_THAT(Audit(), IsEmpty());
}

TEST_F(SchedulerTest, AMissingClaimGatesAndItsArrivalWakes) {
  Create(NodeObjectNamed("n"));
  CreateDevices("n");
  const uint64_t pod = Create(PodWithClaim("p", "c"));
  Pass(100);
  EXPECT_EQ(PlaceOf("p"), Place::kGated);
  CreateClaim("c");
  Pass(200);
  EXPECT_EQ(NodeOf(pod), "n");
}

// A missing claim that a user must create is reported to the pod's owner in every model. A missing
// claim from a template will come by itself; it is reported only in models where plugins cannot
// choose.
// Each kind has a handler of its own, as upstream's informers have.
TEST(SchedulerHandlersTest, AKindThatLagsBehindHoldsNoOther) {
  CostModel costs = Costs();
  costs.queue_event = std::chrono::milliseconds(100);
  VirtualClock clock{Instant(std::chrono::seconds(1000))};
  Cluster cluster{{&clock, costs.informer_delay, true}};
  const SchedulerLoop scheduler{{&cluster, &costs, {}, Random(1)}};
  for (int i = 0; i < 20; ++i) {
    auto claim = std::make_shared<ClusterClaim>();
    claim->namespace_name = "ns";
    claim->name = "c" + std::to_string(i);
    ASSERT_TRUE(cluster.CreateClaim(std::move(claim)).ok());
  }
  ASSERT_TRUE(cluster.Create(PodObjectNamed("p"), "ns").ok());
  clock.AdvanceBy(std::chrono::milliseconds(250));
  const auto handled = [&scheduler](const char* event) {
    const auto value = scheduler.metrics().registry().HistogramAt(
        "scheduler_event_handling_duration_seconds", {event});
    return value ? value->count : 0;
  };
  EXPECT_EQ(handled("UnscheduledPodAdd"), 1u);
  EXPECT_LT(handled("resource.k8s.io/ResourceClaimAdd"), 5u);
  EXPECT_FALSE(scheduler.IsCaughtUp());
  clock.AdvanceBy(std::chrono::seconds(3));
  EXPECT_EQ(handled("resource.k8s.io/ResourceClaimAdd"), 20u);
  EXPECT_TRUE(scheduler.IsCaughtUp());
}

TEST(SchedulerStatusModelTest, PluginsChooseWhatIsShownWhereTheModelLetsThem) {
  const CostModel costs = Costs();
  for (const StatusModel model : kStatusModels) {
    SCOPED_TRACE(StatusModelName(model));
    VirtualClock clock{Instant(std::chrono::seconds(1000))};
    Cluster cluster{{&clock, costs.informer_delay, true}};
    const SchedulerLoop scheduler{{&cluster, &costs, {}, Random(1), model}};
    const auto shown = [&](const ApiObjectRef& object) {
      EXPECT_TRUE(cluster.Create(object, "ns").ok());
      clock.AdvanceBy(std::chrono::milliseconds(100));
      const uint64_t pod = cluster.pods().last();
      const bool is_early = FindCondition(*cluster.FindPod(pod), kPodScheduledCondition) != nullptr;
      EXPECT_TRUE(!is_early || !IsDelayed(model));
      clock.AdvanceBy(std::chrono::seconds(6));
      const PodCondition* condition = FindCondition(*cluster.FindPod(pod), kPodScheduledCondition);
      return condition == nullptr ? "" : condition->reason + ": " + condition->message;
    };
    EXPECT_EQ(
        shown(PodObjectNamed("p", "1m", "  resourceClaims: [{name: d, resourceClaimName: c}]\n")),
        "NotReadyForScheduling: waiting for ResourceClaim \"c\" to be created");
    const std::string of_template = shown(
        PodObjectNamed("q", "1m", "  resourceClaims: [{name: d, resourceClaimTemplateName: t}]\n"));
    EXPECT_EQ(of_template.empty(), HasOptOut(model)) << of_template;
  }
}

TEST_F(SchedulerTest, TheLastDeviceGoesToOnePodAndThenToTheNext) {
  Create(NodeObjectNamed("n"));
  CreateDevices("n");
  CreateClaim("c");
  CreateClaim("d");
  const uint64_t first = Create(PodWithClaim("p", "c"));
  const uint64_t second = Create(PodWithClaim("q", "d"));
  Pass(200);
  EXPECT_EQ(NodeOf(first), "n");
  EXPECT_EQ(NodeOf(second), "");
  EXPECT_THAT(RejectorsOf("q"), Contains("DynamicResources"));
  cluster_.DeletePod(first);
  Pass(5000);
  EXPECT_EQ(NodeOf(second), "n");
  EXPECT_THAT(Audit(), IsEmpty());
}

TEST_F(SchedulerTest, SharersOfAClaimFollowItToItsNode) {
  Create(NodeObjectNamed("m"));
  Create(NodeObjectNamed("n"));
  CreateDevices("n");
  CreateClaim("c");
  std::vector<uint64_t> pods;
  for (const char* name : {"p", "q", "r"}) pods.push_back(Create(PodWithClaim(name, "c")));
  Pass(5000);
  for (const uint64_t pod : pods) EXPECT_EQ(NodeOf(pod), "n");
  EXPECT_EQ(cluster_.FindClaim("ns/c")->reserved_for.size(), 3u);
  EXPECT_THAT(Audit(), IsEmpty());
}

TEST_F(SchedulerTest, AClaimThatVanishesUnderABindingFailsIt) {
  Create(NodeObjectNamed("n"));
  CreateDevices("n");
  CreateClaim("c");
  Pass(5);
  const uint64_t pod = Create(PodWithClaim("p", "c"));
  Pass(2);
  cluster_.Delete({"ResourceClaim", "ns", "c"});
  Pass(200);
  EXPECT_EQ(NodeOf(pod), "");
  EXPECT_NE(PlaceOf("p"), Place::kAbsent);
  CreateClaim("c");
  Pass(5000);
  EXPECT_EQ(NodeOf(pod), "n") << "the device that was promised is free again";
  EXPECT_THAT(Audit(), IsEmpty());
}

}  // namespace
}  // namespace schedq
