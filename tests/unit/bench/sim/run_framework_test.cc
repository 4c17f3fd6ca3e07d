// Goal: Permit and PostFilter do on both clocks what kube-scheduler's do, with both engines, and
// where one thread schedules, both clocks decide the same.
// Method: small workloads; a plugin of the test's own lets pods wait, allows or rejects them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/waiting_pods.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/world.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"
#include "tests/unit/bench/sim/run_ops.h"
#include "tests/unit/bench/sim/run_test_objects.h"

namespace schedq {
namespace {

constexpr const char* kLowPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: low-}\nspec:\n  priority: 1\n"
    "  terminationGracePeriodSeconds: 0\n"
    "  containers:\n  - {name: c, image: i, resources: {requests: {cpu: '1'}}}\n";
constexpr const char* kHighPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: high-}\nspec:\n  priority: 10\n"
    "  containers:\n  - {name: c, image: i, resources: {requests: {cpu: '3'}}}\n";

// What the plugin was asked, by any thread, and which node each pod was given.
struct Notes {
  std::mutex mutex;
  std::map<std::string, std::string> nodes;  // By the pod's name.
  size_t asked = 0;
  size_t unreserved = 0;
};

// Lets pods wait until there are `size` of them, and then lets all of them go.
class Gathering final : public PlacingPlugin {
 public:
  Gathering(size_t size, Duration timeout, Notes* notes)
      : size_(size), timeout_(timeout), notes_(*notes) {}

  std::string_view name() const override { return "Gathering"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kReserve, ExtensionPoint::kPermit);
  }
  void Unreserve(const ClusterPod&, const Decision&, size_t) const override {
    const std::lock_guard lock(notes_.mutex);
    ++notes_.unreserved;
  }
  PermitAnswer Permit(const ClusterPod& pod, const Decision& decision, size_t self,
                      WaitingPods* waiting) const override {
    {
      const std::lock_guard lock(notes_.mutex);
      notes_.nodes[pod.name] = decision.node;
      ++notes_.asked;
    }
    const std::vector<PodRef> present = waiting->List();
    if (size_ == 0) return {.kind = PermitAnswer::Kind::kReject, .timeout = {}};
    if (present.size() % size_ != 0) return {PermitAnswer::Kind::kWait, timeout_};
    for (const PodRef& other : present) waiting->Allow(other->uid, self);
    return {};
  }

 private:
  const size_t size_;
  const Duration timeout_;
  Notes& notes_;
};

class RunFrameworkTest : public testing::TestWithParam<ClockAndEngine> {
 protected:
  // A Gathering of that size among the plugins.
  RunOptions With(size_t size, Duration timeout) {
    RunOptions options;
    options.placing_plugins = [this, size, timeout](const PlacingTools& tools) {
      std::vector<PlacingPluginRef> plugins = BuiltinPlacingPlugins(tools);
      plugins.push_back(std::make_unique<Gathering>(size, timeout, &notes_));
      return plugins;
    };
    options.further_plugins.emplace_back([size](World*) -> Result<std::vector<Plugin>> {
      Plugin plugin;
      plugin.name = "Gathering";
      plugin.rejection_message = "there are too few";
      // Room that one gives back is another chance for the others.
      if (size > 0) plugin.events = {{Resource::kAssignedPod, Action::kDelete, {}, {}}};
      return std::vector<Plugin>{plugin};
    });
    return options;
  }
  static RunOutcome Run(const std::string& ops, RunOptions options,
                        const ClockAndEngine& where = GetParam()) {
    return RunOps(ops,
                  {{"node.yaml", kNodeYaml},
                   {"gang.yaml", kSmallPodYaml},
                   {"low.yaml", kLowPod},
                   {"high.yaml", kHighPod}},
                  where, std::move(options));
  }

  Notes notes_;
};

INSTANTIATE_TEST_SUITE_P(All, RunFrameworkTest, ClocksAndEngines(), NameOfClockAndEngine);

constexpr const char* kTwelvePods =
    "  - {opcode: createNodes, count: 4, nodeTemplatePath: node.yaml}\n"
    "  - {opcode: createPods, count: 12, podTemplatePath: gang.yaml, collectMetrics: true}\n";

TEST_P(RunFrameworkTest, PodsWaitUntilTheyAreAllowed) {
  const RunOutcome outcome = Run(kTwelvePods, With(3, std::chrono::minutes(1)));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 12u);
  EXPECT_EQ(notes_.nodes.size(), 12u);
  EXPECT_EQ(notes_.unreserved, 0u);
}

TEST_P(RunFrameworkTest, WithoutTheDispatcherToo) {
  RunOptions options = With(3, std::chrono::minutes(1));
  GateRequest request;
  request.Set(Gate::kSchedulerAsyncAPICalls, false);
  options.gates = *Gates::Resolve(request);
  const RunOutcome outcome = Run(kTwelvePods, options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 12u);
}

// Two wait in vain, give back what they have, and are woken by the third.
TEST_P(RunFrameworkTest, AWaitThatTimesOutFailsThePodForThePlugin) {
  const RunOutcome outcome =
      Run("  - {opcode: createNodes, count: 4, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createPods, count: 2, namespace: a, podTemplatePath: gang.yaml, "
          "skipWaitToCompletion: true}\n"
          "  - {opcode: sleep, duration: 400ms}\n"
          "  - {opcode: startCollectingMetrics, name: m, namespaces: [a]}\n"
          "  - {opcode: createPods, count: 1, namespace: a, podTemplatePath: gang.yaml, "
          "skipWaitToCompletion: true}\n"
          "  - {opcode: barrier}\n"
          "  - {opcode: stopCollectingMetrics}\n",
          With(3, std::chrono::milliseconds(100)));
  // The three need to meet within a tenth of a second, after backoffs that end together.
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_GE(notes_.unreserved, 2u);
}

TEST_P(RunFrameworkTest, APodThatIsRejectedAtOnceGivesBackAndWaitsInThePool) {
  const RunOutcome outcome =
      Run("  - {opcode: createNodes, count: 4, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createPods, count: 3, namespace: a, podTemplatePath: gang.yaml, "
          "skipWaitToCompletion: true}\n"
          "  - {opcode: startCollectingMetrics, name: m, namespaces: [a]}\n"
          "  - {opcode: barrier, stageRequirement: Attempted}\n"
          "  - {opcode: sleep, duration: 50ms}\n"
          "  - {opcode: stopCollectingMetrics}\n",
          With(0, Duration()));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(notes_.nodes.size(), 3u);
  EXPECT_EQ(notes_.unreserved, notes_.asked) << "whatever was reserved is given back";
}

// The audit finds a pod that is not let go of, and room that is not given back.
TEST_P(RunFrameworkTest, APodThatIsDeletedWhileItWaitsIsLetGo) {
  const RunOutcome outcome =
      Run("  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createPods, count: 2, namespace: a, podTemplatePath: gang.yaml, "
          "skipWaitToCompletion: true}\n"
          "  - {opcode: startCollectingMetrics, name: m, namespaces: [a]}\n"
          "  - {opcode: sleep, duration: 100ms}\n"
          "  - {opcode: deletePods, namespace: a}\n"
          "  - {opcode: sleep, duration: 100ms}\n"
          "  - {opcode: stopCollectingMetrics}\n",
          With(3, std::chrono::minutes(10)));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(notes_.unreserved, 2u);
}

// On four nodes of four processors, each high pod takes three low ones' place.
constexpr const char* kPreemption =
    "  - {opcode: createNodes, count: 4, nodeTemplatePath: node.yaml}\n"
    "  - {opcode: createPods, count: 16, podTemplatePath: low.yaml}\n"
    "  - {opcode: createPods, count: 4, podTemplatePath: high.yaml, collectMetrics: true}\n";

TEST_P(RunFrameworkTest, HigherPodsPreemptLowerOnes) {
  const RunOutcome outcome = Run(kPreemption, RunOptions());
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 4u);
  EXPECT_TRUE(outcome.metrics_text.find("scheduler_preemption_attempts_total") !=
              std::string::npos);
}

TEST_P(RunFrameworkTest, PreemptionWithoutTheDispatcherToo) {
  RunOptions options;
  GateRequest request;
  request.Set(Gate::kSchedulerAsyncAPICalls, false);
  options.gates = *Gates::Resolve(request);
  const RunOutcome outcome = Run(kPreemption, options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 4u);
}

TEST(RunFrameworkClocks, OneThreadDecidesTheSameOnBothClocks) {
  std::vector<std::map<std::string, std::string>> nodes;
  for (const ClockKind clock : {ClockKind::kVirtual, ClockKind::kReal}) {
    for (const EngineKind engine : {EngineKind::kLockfree, EngineKind::kClassic}) {
      class Scene final : public RunFrameworkTest {
       public:
        using RunFrameworkTest::notes_;
        using RunFrameworkTest::Run;
        using RunFrameworkTest::With;

       private:
        void TestBody() override {}
      } scene;
      const RunOutcome outcome = Scene::Run(
          "  - {opcode: createNodes, count: 150, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createPods, count: 400, podTemplatePath: gang.yaml, "
          "collectMetrics: true}\n",
          scene.With(1, Duration()), {clock, engine});
      EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
      nodes.push_back(scene.notes_.nodes);
    }
  }
  EXPECT_EQ(nodes[0].size(), 400u);
  for (const auto& each : nodes) EXPECT_EQ(each, nodes[0]);
}

}  // namespace
}  // namespace schedq
