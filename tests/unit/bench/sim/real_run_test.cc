// Goal: on the real clock every pod that can be scheduled is, whatever the engine and the number of
// scheduling threads, and the audit of the end finds a pod that was lost.
// Method: small workloads from text, run at the machine's pace; planted faults as canaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"
#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {
namespace {

using testing::HasSubstr;

constexpr const char* kNode =
    "apiVersion: v1\nkind: Node\nmetadata: {name: 'n{{.Index}}'}\n"
    "status: {capacity: {cpu: '4', memory: 32Gi, pods: '110'}}\n";
constexpr const char* kSecondNode =
    "apiVersion: v1\nkind: Node\nmetadata: {name: second}\n"
    "status: {capacity: {cpu: '4', memory: 32Gi, pods: '110'}}\n";
constexpr const char* kSmallPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: pod-}\nspec:\n  containers:\n"
    "  - {name: c, image: i, resources: {requests: {cpu: '100m'}}}\n";
constexpr const char* kDevices =
    "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: 's{{.Index}}'}\n"
    "spec: {driver: d, nodeName: 'n{{.Index}}', pool: {name: 'n{{.Index}}', generation: 1, "
    "resourceSliceCount: 1}, devices: [{name: a}, {name: b}]}\n";
constexpr const char* kClass =
    "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: c}\n"
    "spec: {selectors: [{cel: {expression: 'device.driver == \"d\"'}}]}\n";
constexpr const char* kTemplate =
    "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t}\n"
    "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}}\n";
constexpr const char* kTemplatePod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
    "  resourceClaims: [{name: d, resourceClaimTemplateName: t}]\n"
    "  containers: [{name: c, image: i}]\n";

TestFiles Files() {
  return {{"node.yaml", kNode},
          {"second.yaml", kSecondNode},
          {"small.yaml", kSmallPod},
          {"devices.yaml", kDevices},
          {"class.yaml", kClass},
          {"template.yaml", kTemplate},
          {"template-pod.yaml", kTemplatePod}};
}

class RealRunTest : public testing::TestWithParam<EngineKind> {
 protected:
  RunOutcome Run(const std::string& ops, RunOptions options = {}) {
    const Result<std::vector<TestCase>> cases = DecodeText(CaseOf(ops), Files());
    EXPECT_TRUE(cases.ok()) << cases.error().message();
    static const CostModel costs = NoCosts();
    options.costs = &costs;
    options.clock = ClockKind::kReal;
    options.engine = GetParam();
    const Result<RunOutcome> outcome = RunWorkload((*cases)[0], (*cases)[0].workloads[0], options);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message();
    return *outcome;
  }
  static uint64_t Counter(const RunOutcome& outcome, const std::string& name) {
    const auto& counters = outcome.repetition.counters;
    const auto found = counters.find(name);
    return found == counters.end() ? 0 : found->second;
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, RealRunTest,
                         testing::Values(EngineKind::kLockfree, EngineKind::kClassic),
                         [](const auto& info) { return std::string(EngineName(info.param)); });

constexpr const char* kBasic =
    "  - {opcode: createNodes, count: 20, nodeTemplatePath: node.yaml}\n"
    "  - {opcode: createPods, count: 700, podTemplatePath: small.yaml, collectMetrics: true}\n";

TEST_P(RealRunTest, EveryPodIsScheduled) {
  const RunOutcome outcome = Run(kBasic);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 700u);
  EXPECT_EQ(outcome.repetition.latencies.at("pod_scheduled").count, 700u);
  EXPECT_GE(outcome.repetition.latencies.at("pod_popped").count, 700u);
  ASSERT_TRUE(outcome.repetition.real.has_value());
  EXPECT_GT(outcome.repetition.real->cpu_by_thread.at("cluster"), 0);
  EXPECT_GT(outcome.repetition.real->cpu_by_part.at("placing"), 0);
}

TEST_P(RealRunTest, SeveralSchedulersShareOneQueue) {
  RunOptions options;
  options.scheduling_threads = 4;
  const RunOutcome outcome = Run(kBasic, options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 700u);
}

TEST_P(RealRunTest, WithoutTheDispatcherToo) {
  RunOptions options;
  GateRequest request;
  request.Set(Gate::kSchedulerAsyncAPICalls, false);
  options.gates = *Gates::Resolve(request);
  const RunOutcome outcome = Run(kBasic, options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 700u);
}

// 40 pods' cpu fits a node, so 60 pods wait for the second one.
TEST_P(RealRunTest, PodsThatFitNowhereWaitForANode) {
  const RunOutcome outcome =
      Run("  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createPods, namespace: a, count: 60, podTemplatePath: small.yaml, "
          "skipWaitToCompletion: true}\n"
          "  - {opcode: sleep, duration: 200ms}\n"
          "  - {opcode: startCollectingMetrics, name: m, namespaces: [a]}\n"
          "  - {opcode: createNodes, count: 1, nodeTemplatePath: second.yaml}\n"
          "  - {opcode: barrier}\n"
          "  - {opcode: stopCollectingMetrics}\n");
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
}

TEST_P(RealRunTest, ClaimsAreGeneratedAllocatedAndStored) {
  RunOptions options;
  options.scheduling_threads = 2;
  const RunOutcome outcome =
      Run("  - {opcode: createNodes, count: 20, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createAny, count: 20, templatePath: devices.yaml}\n"
          "  - {opcode: createAny, templatePath: class.yaml}\n"
          "  - {opcode: createAny, namespace: a, templatePath: template.yaml}\n"
          "  - {opcode: createPods, namespace: a, count: 40, podTemplatePath: template-pod.yaml, "
          "collectMetrics: true}\n",
          options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 40u);
}

}  // namespace
}  // namespace schedq
