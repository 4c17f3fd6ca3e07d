// Goal: pods wait for the binding conditions of their devices, and get over drivers that fail or
// never answer.
// Method: a pod whose claim gets such a device, on the virtual clock with both engines. What the
// slice's annotations say is what its driver does.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "bench/format/workload/device_features.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"
#include "tests/unit/bench/format/workload_test_files.h"
#include "tests/unit/bench/sim/run_ops.h"
#include "tests/unit/bench/sim/run_test_objects.h"

namespace schedq {
namespace {

class DeviceRunTest : public testing::TestWithParam<EngineKind> {
 protected:
  // One pod and one node with one device.
  RunOutcome Run(const std::string& annotations, const std::string& device,
                 const std::string& after = "", const RunOptions& options = {}) {
    const TestFiles files = {
        {"node.yaml", kNodeYaml},
        {"class.yaml", kClassYaml},
        {"template.yaml", kClaimTemplateYaml},
        {"claim-pod.yaml", kClaimPodYaml},
        {"slice.yaml",
         "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s, annotations: {" +
             annotations + "}}\nspec: {driver: d, nodeName: n0, pool: {name: n0}, devices: [" +
             device + "]}\n"}};
    return RunOps(
        "  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"
        "  - {opcode: createAny, templatePath: class.yaml}\n"
        "  - {opcode: createAny, templatePath: slice.yaml}\n"
        "  - {opcode: createAny, namespace: m, templatePath: template.yaml}\n"
        "  - {opcode: startCollectingMetrics, namespaces: [m]}\n"
        "  - {opcode: createPods, count: 1, namespace: m, podTemplatePath: claim-pod.yaml" +
            (after.empty() ? "}\n" : ", skipWaitToCompletion: true}\n" + after) +
            "  - {opcode: stopCollectingMetrics}\n",
        files, {ClockKind::kVirtual, GetParam()}, options);
  }
  static uint64_t Attempts(const RunOutcome& outcome, const std::string& result) {
    const auto found = outcome.counters.find("scheduler_schedule_attempts_total{result=\"" +
                                             result + "\",profile=\"default-scheduler\"}");
    return found == outcome.counters.end() ? 0 : found->second;
  }

  static constexpr const char* kPlain = "{name: a}";
  static constexpr const char* kConditional =
      "{name: a, bindingConditions: [up], bindingFailureConditions: [burnt]}";
};

TEST_P(DeviceRunTest, APodWaitsUntilItsDeviceIsReady) {
  const RunOutcome ready = Run("schedq/binding-delay: 2s", kConditional);
  ASSERT_EQ(ready.outcome, WorkloadOutcome::kMeasured) << ready.reason;
  // The scheduler looks at once, and then every five seconds.
  EXPECT_GT(ready.repetition.seconds, 5);
  EXPECT_LT(ready.repetition.seconds, 7);
  EXPECT_EQ(Attempts(ready, "scheduled"), 1u);
  EXPECT_EQ(Attempts(ready, "error") + Attempts(ready, "unschedulable"), 0u);
  const RunOutcome late = Run("schedq/binding-delay: 7s", kConditional);
  EXPECT_GT(late.repetition.seconds, 10);
  const RunOutcome plain = Run("schedq/binding-delay: 2s", kPlain);
  EXPECT_LT(plain.repetition.seconds, 2) << "without conditions nobody waits";
}

TEST_P(DeviceRunTest, ADriverThatFailsCostsTheClaimItsDeviceAndThePodIsRetried) {
  const RunOutcome outcome =
      Run("schedq/binding-delay: 1s, schedq/binding-failures: '1'", kConditional);
  ASSERT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(Attempts(outcome, "error"), 1u) << "the binding fails";
  EXPECT_EQ(Attempts(outcome, "unschedulable"), 1u) << "the claim gives up its device";
  EXPECT_EQ(Attempts(outcome, "scheduled"), 1u);
  EXPECT_LT(outcome.repetition.seconds, 60) << "nobody waits for a flush";
}

TEST_P(DeviceRunTest, ADriverThatNeverAnswersIsWaitedForTenMinutes) {
  const std::string sleep = "  - {opcode: sleep, duration: ";
  const RunOutcome before = Run("", kConditional, sleep + "590s}\n");
  EXPECT_EQ(Attempts(before, "error"), 0u);
  const RunOutcome after = Run("", kConditional, sleep + "620s}\n");
  EXPECT_EQ(Attempts(after, "error"), 1u);
  EXPECT_EQ(Attempts(after, "unschedulable"), 1u);
  EXPECT_EQ(Attempts(after, "scheduled"), 0u);
}

TEST_P(DeviceRunTest, WithoutTheGateSuchDevicesAreNotGiven) {
  for (bool DeviceFeatures::*const gate :
       {&DeviceFeatures::binding_conditions, &DeviceFeatures::device_status}) {
    RunOptions options;
    options.devices.*gate = false;
    const RunOutcome outcome = Run("schedq/binding-delay: 1s", kConditional,
                                   "  - {opcode: sleep, duration: 10s}\n", options);
    EXPECT_GT(Attempts(outcome, "unschedulable"), 0u);
    EXPECT_EQ(Attempts(outcome, "scheduled"), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, DeviceRunTest,
                         testing::Values(EngineKind::kLockfree, EngineKind::kClassic),
                         [](const auto& info) { return std::string(EngineName(info.param)); });

}  // namespace
}  // namespace schedq
