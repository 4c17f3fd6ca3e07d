// Goal: storms leave no pod behind: an API server that answers with errors for a while, gates that
// are opened at once, pods that are updated again and again.
// Method: small workloads from text on the real clock, and the storms' parts on the virtual one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bench/format/objects/object_template.h"
#include "bench/format/workload/model.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/run/update_storm.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "perf/documents/run_document.h"
#include "tests/unit/bench/format/workload_test_files.h"
#include "tests/unit/bench/sim/run_ops.h"
#include "tests/unit/bench/sim/run_test_objects.h"

namespace schedq {
namespace {

using testing::Contains;
using testing::Pair;

constexpr const char* kGatedPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: g-}\nspec:\n"
    "  schedulingGates: [{name: a/b}]\n  containers: [{name: c, image: i}]\n";

RunOutcome RunStorm(const std::string& ops, const ClockAndEngine& where, RunOptions options = {}) {
  const TestFiles files = {{"node.yaml", kNodeYaml},
                           {"gated.yaml", kGatedPod},
                           {"devices.yaml", kDevicesYaml},
                           {"class.yaml", kClassYaml},
                           {"template.yaml", kClaimTemplateYaml},
                           {"template-pod.yaml", kClaimPodYaml}};
  return RunOps(ops, files, where, std::move(options));
}

class StormTest : public testing::TestWithParam<ClockAndEngine> {};

INSTANTIATE_TEST_SUITE_P(All, StormTest, ClocksAndEngines(), NameOfClockAndEngine);

// Longer than a refused binding is repeated.
constexpr const char* kOutage =
    "  - {opcode: createNodes, count: 5, nodeTemplatePath: node.yaml}\n"
    "  - {opcode: apiOutage, duration: 700ms}\n"
    "  - {opcode: createPods, count: 60, podTemplatePath: pod.yaml, collectMetrics: true}\n";

void ExpectAllBoundAfterTheOutage(const RunOutcome& outcome) {
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 60u);
  const auto& counters = outcome.repetition.counters;
  const auto errors = counters.find(
      "scheduler_schedule_attempts_total{result=\"error\",profile=\"default-scheduler\"}");
  ASSERT_NE(errors, counters.end());
  EXPECT_GE(errors->second, 60u) << "each first binding failed";
  EXPECT_GE(outcome.repetition.latencies.at("pod_scheduled").p50_ns, 700'000'000u);
}

TEST_P(StormTest, APodWhoseBindingFailsInAnOutageIsBoundLater) {
  ExpectAllBoundAfterTheOutage(RunStorm(kOutage, GetParam()));
}

TEST_P(StormTest, WithoutTheDispatcherToo) {
  RunOptions options;
  GateRequest request;
  request.Set(Gate::kSchedulerAsyncAPICalls, false);
  options.gates = *Gates::Resolve(request);
  ExpectAllBoundAfterTheOutage(RunStorm(kOutage, GetParam(), std::move(options)));
}

TEST_P(StormTest, ClaimsThatCouldNotBeStoredAreStoredLater) {
  const RunOutcome outcome = RunStorm(
      "  - {opcode: createNodes, count: 10, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createAny, count: 10, templatePath: devices.yaml}\n"
      "  - {opcode: createAny, templatePath: class.yaml}\n"
      "  - {opcode: createAny, namespace: a, templatePath: template.yaml}\n"
      "  - {opcode: apiOutage, duration: 300ms}\n"
      "  - {opcode: createPods, namespace: a, count: 20, podTemplatePath: template-pod.yaml, "
      "collectMetrics: true}\n",
      GetParam());
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 20u);
}

TEST_P(StormTest, GatedPodsAreBoundWhenTheirGatesAreOpened) {
  const RunOutcome outcome = RunStorm(
      "  - {opcode: createNodes, count: 5, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createPods, namespace: g, count: 80, podTemplatePath: gated.yaml, "
      "skipWaitToCompletion: true}\n"
      "  - {opcode: barrier, namespaces: [g], stageRequirement: Attempted}\n"
      "  - {opcode: startCollectingMetrics, name: m, namespaces: [g]}\n"
      "  - {opcode: updatePods, namespace: g, openGates: true}\n"
      "  - {opcode: barrier, namespaces: [g]}\n"
      "  - {opcode: stopCollectingMetrics}\n",
      GetParam());
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 80u);
  if (std::get<ClockKind>(GetParam()) == ClockKind::kVirtual) return;
  EXPECT_EQ(outcome.repetition.latencies.at("event_requeued").count, 80u);
}

class UpdateStormTest : public testing::Test {
 protected:
  // A pod of the namespace.
  void Create(const std::string& namespace_name) {
    const Result<std::vector<TestCase>> cases = DecodeText(
        CaseOf("  - {opcode: createPods, count: 1, podTemplatePath: gated.yaml, collectMetrics: "
               "true}\n"),
        {{"gated.yaml", kGatedPod}});
    ASSERT_TRUE(cases.ok()) << cases.error().message();
    const auto& op = std::get<CreatePodsOp>((*cases)[0].workloads[0].ops[0].action);
    ASSERT_TRUE(
        simulation_.cluster().Create(*ObjectRenderer(op.pod, 1).Render(0), namespace_name).ok());
  }
  // Until the informers have told of everything.
  void Settle() {
    simulation_.Wait([] { return false; }, std::chrono::seconds(1));
  }

  const CostModel costs_ = *LoadCostModel(kUpstreamModel);
  Simulation simulation_{[this] {
                           RunOptions options;
                           options.costs = &costs_;
                           return options;
                         }(),
                         SchedulerSettings()};
};

TEST_F(UpdateStormTest, ChangesEachPodOfItsNamespaceOnceARound) {
  Create("a");
  Create("a");
  Create("b");
  Settle();
  UpdatePodsOp op;
  op.namespace_name = "a";
  op.label_key = "storm";
  op.rounds = 3;
  const auto storm = std::make_shared<UpdateStorm>(&simulation_, op);
  UpdateStorm::Begin(storm);
  EXPECT_FALSE(storm->is_done());
  Settle();
  EXPECT_TRUE(storm->is_done());
  size_t updated = 0;
  for (const auto& [number, pod] : simulation_.cluster().pods()) {
    EXPECT_EQ(pod->scheduling_gates.size(), 1u) << "gates stay";
    if (pod->namespace_name != "a") {
      EXPECT_EQ(pod->labels, Labels());
      continue;
    }
    EXPECT_THAT(pod->labels, Contains(Pair("storm", "2"))) << "of the last round";
    ++updated;
  }
  EXPECT_EQ(updated, 2u);
}

TEST_F(UpdateStormTest, RoundsWithoutPodsEnd) {
  UpdatePodsOp op;
  op.namespace_name = "nothing";
  op.opens_gates = true;
  op.rounds = 10'000'000;
  const auto storm = std::make_shared<UpdateStorm>(&simulation_, op);
  UpdateStorm::Begin(storm);
  EXPECT_TRUE(storm->is_done());
}

}  // namespace
}  // namespace schedq
