// Goal: preemption keeps its promises on both clocks and with both engines: as few as possible of
// the least important pods go, the pod for which they go gets the node, their end wakes it, and
// when a nomination ends, the pods from which it kept room are woken.
// Method: small clusters with the whole scheduler around the queue; the cluster shows what came of
// it, and the audit at the end that no pod was lost. Nothing here waits for the flush of the pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/format/workload/fault.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/cluster/audit.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/real/real_scheduler.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"
#include "tests/unit/bench/sim/run_ops.h"

namespace schedq {
namespace {

using testing::IsEmpty;

struct Wanted {
  std::string name;
  int priority = 0;
  std::string cpu = "1";
  std::string metadata = "";  // Beside the name.
  std::string spec = "";      // Beside priority, grace period and container.
  int grace_seconds = 0;
};

class PreemptionRunTest : public testing::TestWithParam<ClockAndEngine> {
 protected:
  explicit PreemptionRunTest(const Gates& gates = Gates()) : gates_(gates) {}

  void TearDown() override {
    Wait([this] { return simulation_.scheduler().IsCaughtUp(); });
    EXPECT_THAT(AuditCluster(simulation_.cluster(), {[&](const ClusterPod& pod) {
                               return simulation_.scheduler().Knows(pod);
                             }}),
                IsEmpty());
    EXPECT_THAT(simulation_.scheduler().Faults(), IsEmpty());
    EXPECT_LT(simulation_.elapsed(), std::chrono::minutes(1)) << "the flush comes after five";
  }

  void CreateNode(const std::string& name, const std::string& cpu = "4") {
    const std::string yaml =
        "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {zone: zone-" + name +
        "}}\nstatus: {capacity: {pods: '10', cpu: '" + cpu + "', memory: 32Gi}}\n";
    ASSERT_TRUE(simulation_.cluster().Create(ObjectFrom(yaml), "").ok());
  }
  uint64_t Create(const Wanted& pod) {
    const std::string yaml =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: " + pod.name + pod.metadata +
        "}\nspec:\n  priority: " + std::to_string(pod.priority) +
        "\n  terminationGracePeriodSeconds: " + std::to_string(pod.grace_seconds) + "\n" +
        pod.spec + "  containers: [{name: c, image: i, resources: {requests: {cpu: '" + pod.cpu +
        "'}}}]\n";
    EXPECT_TRUE(simulation_.cluster().Create(ObjectFrom(yaml), "ns").ok());
    return simulation_.cluster().pods().last();
  }
  // Waits until it has a node and the scheduler was told: one that is only assumed there is no
  // victim.
  uint64_t CreateAndBind(const Wanted& pod) {
    const uint64_t number = Create(pod);
    EXPECT_TRUE(IsBoundSoon(number)) << pod.name;
    EXPECT_TRUE(Wait([this] { return IsSettled(); })) << pod.name;
    return number;
  }
  // Waits until an attempt has failed.
  uint64_t CreateAndReject(const Wanted& pod) {
    const uint64_t number = Create(pod);
    EXPECT_TRUE(Wait([this, number] {
      const ClusterPodRef now = simulation_.cluster().FindPod(number);
      return FindCondition(*now, kPodScheduledCondition) != nullptr;
    })) << pod.name;
    return number;
  }
  // Nothing is under way, on the virtual clock as far as the informers go.
  bool IsSettled() {
    const RealScheduler* const real = simulation_.real_scheduler();
    return real != nullptr ? real->IsQuiet() : simulation_.scheduler().IsCaughtUp();
  }
  bool Wait(const std::function<bool()>& done) {
    return simulation_.Wait(done, std::chrono::seconds(20)) == WaitResult::kDone;
  }
  bool IsThere(uint64_t pod) { return simulation_.cluster().FindPod(pod) != nullptr; }
  // Empty: it has no node, or is gone.
  std::string NodeOf(uint64_t pod) {
    return IsThere(pod) ? simulation_.cluster().FindPod(pod)->node_name : "";
  }
  bool IsBoundSoon(uint64_t pod) {
    return Wait([this, pod] { return !NodeOf(pod).empty(); });
  }
  bool IsNominatedSoon(uint64_t pod, const std::string& node) {
    return Wait([this, pod, node] {
      return simulation_.cluster().FindPod(pod)->nominated_node_name == node;
    });
  }
  void RemoveFinalizers(uint64_t pod) {
    simulation_.cluster().UpdatePod(pod, [](ClusterPod* after) {
      after->finalizers.clear();
      return true;
    });
  }
  // On the one node of four processors, two of which a pod holds that is slow to go: a pod that
  // wants all of them has preempted, is nominated and waits.
  struct Waiting {
    uint64_t slow;
    uint64_t high;
  };
  Waiting PreemptASlowPod() {
    CreateNode("n");
    Waiting waiting{};
    waiting.slow = CreateAndBind({"slow", 1, "2", ", finalizers: [f/x]"});
    const uint64_t quick = CreateAndBind({"quick", 1, "2"});
    waiting.high = Create({"high", 10, "4"});
    EXPECT_TRUE(Wait([this, quick] { return !IsThere(quick); }));
    EXPECT_TRUE(
        Wait([this, &waiting] { return simulation_.cluster().FindPod(waiting.slow)->deleting; }));
    EXPECT_TRUE(IsNominatedSoon(waiting.high, "n"));
    EXPECT_TRUE(Wait([this] { return IsSettled(); }));
    return waiting;
  }

  void ManyPodsPreempt() {
    for (const char* node : {"a", "b", "c", "d"}) CreateNode(node);
    std::vector<uint64_t> low;
    for (int i = 0; i < 16; ++i) low.push_back(Create({"low-" + std::to_string(i), 1}));
    for (const uint64_t pod : low) ASSERT_TRUE(IsBoundSoon(pod));
    ASSERT_TRUE(Wait([this] { return IsSettled(); }));
    std::vector<uint64_t> high;
    for (int i = 0; i < 4; ++i) high.push_back(Create({"high-" + std::to_string(i), 5 + i, "3"}));
    for (const uint64_t pod : high) EXPECT_TRUE(IsBoundSoon(pod));
    size_t left = 0;
    for (const uint64_t pod : low) left += IsThere(pod) ? 1 : 0;
    EXPECT_EQ(left, 4u) << "a node has room for one beside a high one";
  }
  // Besides a victim there is room for a pod of low priority, which comes with the one that
  // preempts.
  bool IsVictimThereWhenTheNextPodIsPlaced() {
    CreateNode("n");
    CreateNode("m", "1");
    const uint64_t victim = CreateAndBind({"victim", 1, "4"});
    Create({"high", 10, "4"});
    const uint64_t next = Create({"next", 0, "1"});
    EXPECT_TRUE(Wait([this, next] {
      return simulation_.scheduler().IsOnItsWay(*simulation_.cluster().FindPod(next));
    }));
    return IsThere(victim);
  }

  const Gates gates_;
  const CostModel costs_ = *LoadCostModel(
      std::get<ClockKind>(GetParam()) == ClockKind::kReal ? kNoCosts : kUpstreamModel);
  Simulation simulation_{[this] {
                           RunOptions options;
                           options.clock = std::get<ClockKind>(GetParam());
                           options.engine = std::get<EngineKind>(GetParam());
                           options.costs = &costs_;
                           options.gates = gates_;
                           return options;
                         }(),
                         SchedulerSettings()};
};

INSTANTIATE_TEST_SUITE_P(All, PreemptionRunTest, ClocksAndEngines(), NameOfClockAndEngine);

TEST_P(PreemptionRunTest, OnlyTheLeastImportantGoes) {
  CreateNode("n");
  const uint64_t important = CreateAndBind({"important", 3, "2"});
  const uint64_t least = CreateAndBind({"least", 1, "1"});
  const uint64_t between = CreateAndBind({"between", 2, "1"});
  const uint64_t high = CreateAndBind({"high", 10, "1"});
  EXPECT_EQ(NodeOf(high), "n");
  EXPECT_FALSE(IsThere(least));
  EXPECT_TRUE(IsThere(important) && IsThere(between));
}

// No kubelet ends it: it keeps its room, and the pod that preempted it waits and takes no others.
TEST_P(PreemptionRunTest, AVictimWithAGracePeriodStays) {
  CreateNode("n");
  CreateNode("m");
  const uint64_t low = CreateAndBind({"low", 1, "4", "", "", 30});
  const uint64_t other = CreateAndBind({"other", 1, "4", "", "", 30});
  const uint64_t high = CreateAndReject({"high", 10, "4"});
  EXPECT_TRUE(Wait([&] {
    return simulation_.cluster().FindPod(low)->deleting ||
           simulation_.cluster().FindPod(other)->deleting;
  }));
  EXPECT_TRUE(Wait([this] { return IsSettled(); }));
  EXPECT_TRUE(IsThere(low) && IsThere(other));
  EXPECT_NE(simulation_.cluster().FindPod(low)->deleting,
            simulation_.cluster().FindPod(other)->deleting)
      << "one victim only";
  EXPECT_EQ(NodeOf(high), "");
  CreateNode("third");
  EXPECT_TRUE(IsBoundSoon(high)) << "where there is room it goes elsewhere";
}

TEST_P(PreemptionRunTest, AsManyGoAsAreNeededAndNoMore) {
  CreateNode("n");
  std::vector<uint64_t> low;
  for (const char* name : {"a", "b", "c", "d"}) low.push_back(CreateAndBind({name, 1}));
  const uint64_t high = CreateAndBind({"high", 10, "2"});
  EXPECT_EQ(NodeOf(high), "n");
  EXPECT_TRUE(IsThere(low[0]) && IsThere(low[1])) << "the older ones stay";
  EXPECT_FALSE(IsThere(low[2]) || IsThere(low[3]));
}

TEST_P(PreemptionRunTest, TheEndOfTheLastVictimWakesThePodAndItGetsItsNode) {
  const Waiting waiting = PreemptASlowPod();
  const uint64_t late = CreateAndReject({"late", 1, "2"});
  EXPECT_EQ(NodeOf(waiting.high), "");
  EXPECT_EQ(NodeOf(late), "") << "the nomination keeps the room that is free";
  RemoveFinalizers(waiting.slow);
  EXPECT_TRUE(IsBoundSoon(waiting.high));
  EXPECT_EQ(NodeOf(late), "");
}

TEST_P(PreemptionRunTest, TheEndOfANominatedPodWakesThoseFromWhichItKeptRoom) {
  const Waiting waiting = PreemptASlowPod();
  const uint64_t late = CreateAndReject({"late", 1, "2"});
  EXPECT_EQ(NodeOf(late), "");
  simulation_.cluster().DeletePod(waiting.high);
  EXPECT_TRUE(IsBoundSoon(late));
  RemoveFinalizers(waiting.slow);
}

// A higher one takes two of the processors, so that the nominated pod does not fit any more.
TEST_P(PreemptionRunTest, TheEndOfANominationWakesThoseFromWhichItKeptRoom) {
  const Waiting waiting = PreemptASlowPod();
  const uint64_t late = CreateAndReject({"late", 1, "2"});
  const uint64_t highest = CreateAndBind({"highest", 20, "2"});
  EXPECT_EQ(NodeOf(highest), "n");
  EXPECT_EQ(NodeOf(late), "");
  RemoveFinalizers(waiting.slow);
  EXPECT_TRUE(IsBoundSoon(late));
  EXPECT_EQ(NodeOf(waiting.high), "");
  EXPECT_TRUE(IsNominatedSoon(waiting.high, ""));
}

constexpr const char* kApp = ", labels: {app: x}";
constexpr const char* kEvenly =
    "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
    "DoNotSchedule, labelSelector: {matchLabels: {app: x}}}]\n";

// The other zone has room, but there the pod would be the second of its kind.
TEST_P(PreemptionRunTest, APodThatIsToSpreadPreemptsInTheZoneThatIsShort) {
  CreateNode("a", "2");
  const uint64_t alike = CreateAndBind({"alike", 1, "1", kApp});
  CreateNode("b", "2");
  const uint64_t filler = CreateAndBind({"filler", 1, "2"});
  ASSERT_EQ(NodeOf(filler), "b");
  const uint64_t high = CreateAndBind({"high", 10, "1", kApp, kEvenly});
  EXPECT_EQ(NodeOf(high), "b");
  EXPECT_FALSE(IsThere(filler));
  EXPECT_TRUE(IsThere(alike));
}

// Its zone has room, and the other one is closed to it: what stands in its way is its like.
TEST_P(PreemptionRunTest, APodThatIsToSpreadPreemptsThePodsThatCountAgainstIt) {
  CreateNode("a", "4");
  const uint64_t older = CreateAndBind({"older", 1, "1"});
  const uint64_t alike = CreateAndBind({"alike", 2, "1", kApp});
  CreateNode("b", "1");
  const uint64_t equal = CreateAndBind({"equal", 10, "1", "", "  nodeSelector: {zone: zone-b}\n"});
  const uint64_t high = CreateAndBind({"high", 10, "1", kApp, kEvenly});
  EXPECT_EQ(NodeOf(high), "a");
  EXPECT_FALSE(IsThere(alike));
  EXPECT_TRUE(IsThere(older) && IsThere(equal));
}

TEST_P(PreemptionRunTest, ManyPodsPreemptAndNoneIsLost) { ManyPodsPreempt(); }

// The gate SchedulerAsyncPreemption is off.
class PreemptionInCycleTest : public PreemptionRunTest {
 protected:
  PreemptionInCycleTest() : PreemptionRunTest(WithoutTheGate()) {}

  static Gates WithoutTheGate() {
    GateRequest request;
    request.Set(Gate::kSchedulerAsyncPreemption, false);
    return *Gates::Resolve(request);
  }
};

INSTANTIATE_TEST_SUITE_P(All, PreemptionInCycleTest, ClocksAndEngines(), NameOfClockAndEngine);

TEST_P(PreemptionInCycleTest, AsManyGoAsAreNeededAndThePodGetsTheNode) {
  CreateNode("n");
  std::vector<uint64_t> low;
  for (const char* name : {"a", "b", "c", "d"}) low.push_back(CreateAndBind({name, 1}));
  const uint64_t high = CreateAndBind({"high", 10, "2"});
  EXPECT_EQ(NodeOf(high), "n");
  EXPECT_TRUE(IsThere(low[0]) && IsThere(low[1]));
  EXPECT_FALSE(IsThere(low[2]) || IsThere(low[3]));
  EXPECT_EQ(simulation_.scheduler()
                .queue_metrics()
                .Value("scheduler_unschedulable_pods", {"DefaultPreemption", "default-scheduler"})
                .value_or(0),
            0);
}

TEST_P(PreemptionInCycleTest, ManyPodsPreemptAndNoneIsLost) { ManyPodsPreempt(); }

TEST_P(PreemptionInCycleTest, WhereACallFailsThePodIsTriedAgain) {
  CreateNode("n");
  const uint64_t low = CreateAndBind({"low", 1, "4"});
  Cluster& cluster = simulation_.cluster();
  constexpr Duration kFault = std::chrono::seconds(2);
  const Instant end = cluster.clock().Now() + kFault;
  cluster.faults().Begin({.kind = FaultKind::kErrors,
                          .duration = kFault,
                          .calls = 1u << static_cast<uint32_t>(CallKind::kDelete)});
  const uint64_t high = Create({"high", 10, "4"});
  EXPECT_TRUE(Wait([this] {
    return simulation_.scheduler()
               .loop_metrics()
               .Value("scheduler_preemption_attempts_total", {})
               .value_or(0) >= 1;
  }));
  EXPECT_TRUE(IsThere(low));
  EXPECT_TRUE(Wait([&] { return cluster.clock().Now() > end; }));
  EXPECT_EQ(NodeOf(high), "");
  const auto closed = ObjectFrom(
      "apiVersion: v1\nkind: Node\nmetadata: {name: m}\nspec: {unschedulable: true}\n"
      "status: {capacity: {pods: '10', cpu: '4', memory: 32Gi}}\n");
  ASSERT_TRUE(cluster.Create(closed, "").ok());
  EXPECT_TRUE(IsBoundSoon(high)) << "a node that comes wakes it, and does not take it";
  EXPECT_EQ(NodeOf(high), "n");
  EXPECT_FALSE(IsThere(low));
}

// On the virtual clock, on which calls take time.
class PreemptionTakesTimeTest : public PreemptionRunTest {};
class PreemptionInCycleTakesTimeTest : public PreemptionInCycleTest {};
INSTANTIATE_TEST_SUITE_P(Virtual, PreemptionTakesTimeTest,
                         testing::Combine(testing::Values(ClockKind::kVirtual),
                                          testing::Values(EngineKind::kLockfree,
                                                          EngineKind::kClassic)),
                         NameOfClockAndEngine);
INSTANTIATE_TEST_SUITE_P(Virtual, PreemptionInCycleTakesTimeTest,
                         testing::Combine(testing::Values(ClockKind::kVirtual),
                                          testing::Values(EngineKind::kLockfree,
                                                          EngineKind::kClassic)),
                         NameOfClockAndEngine);

TEST_P(PreemptionTakesTimeTest, TheNextPodIsPlacedBeforeTheVictimGoes) {
  EXPECT_TRUE(IsVictimThereWhenTheNextPodIsPlaced());
}

TEST_P(PreemptionInCycleTakesTimeTest, TheNextPodIsPlacedOnceTheVictimIsGone) {
  EXPECT_FALSE(IsVictimThereWhenTheNextPodIsPlaced());
}

}  // namespace
}  // namespace schedq
