// Goal: each opcode has the meaning of docs/formats.md, runs depend only on their inputs, and a
// workload that cannot end gives a reason.
// Method: small workloads from text, run on the virtual clock; results and the final metrics are
// compared with known ones.
#include "bench/sim/run/run_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "bench/format/workload/model.h"
#include "bench/sim/queue/trace_recorder.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "perf/documents/data_items.h"
#include "perf/documents/document.h"
#include "perf/documents/run_document.h"
#include "tests/unit/bench/format/workload_test_files.h"
#include "tests/unit/bench/sim/run_test_objects.h"

namespace schedq {
namespace {

using testing::HasSubstr;

constexpr const char* kClaim =
    "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: 'c{{.Index}}'}\n"
    "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}\n";
constexpr const char* kClaimPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
    "  resourceClaims: [{name: d, resourceClaimName: 'c{{.Index}}'}]\n"
    "  containers: [{name: c, image: i}]\n";
constexpr const char* kBadTemplate =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
    "  containers: [{name: c, image: i}]\n  {{if eq .Index 1}}surplus: 1{{end}}\n";

// A deletion ends it at once.
constexpr const char* kQuickPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
    "  terminationGracePeriodSeconds: 0\n  containers: [{name: c, image: i}]\n";
constexpr const char* kTeam = "apiVersion: v1\nkind: Namespace\nmetadata: {labels: {team: a}}\n";
// Wants a pod like itself on its node, in a namespace of the team.
constexpr const char* kTeamPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-, labels: {app: x}}\nspec:\n"
    "  containers: [{name: c, image: i}]\n"
    "  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [\n"
    "    {labelSelector: {matchLabels: {app: x}}, topologyKey: kubernetes.io/hostname,\n"
    "     namespaceSelector: {matchLabels: {team: a}}}]}}\n";

TestFiles Files() {
  return {{"node.yaml", kNodeYaml},   {"huge.yaml", kHugePodYaml}, {"devices.yaml", kDevicesYaml},
          {"class.yaml", kClassYaml}, {"claims.yaml", kClaim},     {"claim-pod.yaml", kClaimPod},
          {"bad.yaml", kBadTemplate}, {"team.yaml", kTeam},        {"quick.yaml", kQuickPod},
          {"team-pod.yaml", kTeamPod}};
}

// One workload of the text, and its runs.
class WorkloadTest : public testing::Test {
 protected:
  Result<RunOutcome> TryRun(const std::string& ops, RunOptions options = {}) {
    Result<std::vector<TestCase>> cases = DecodeText(CaseOf(ops), Files());
    if (!cases) return cases.error();
    static const CostModel kCosts = *LoadCostModel("upstream");
    options.costs = &kCosts;
    return RunWorkload((*cases)[0], (*cases)[0].workloads[0], options);
  }
  RunOutcome Run(const std::string& ops, RunOptions options = {}) {
    Result<RunOutcome> outcome = TryRun(ops, std::move(options));
    EXPECT_TRUE(outcome.ok()) << outcome.error().message();
    EXPECT_EQ(outcome->outcome, WorkloadOutcome::kMeasured) << outcome->reason;
    return *outcome;
  }
  static uint64_t Counter(const RunOutcome& outcome, const std::string& name) {
    const auto found = outcome.repetition.counters.find(name);
    return found == outcome.repetition.counters.end() ? 0 : found->second;
  }
};

const std::string kNodes = "  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}\n";
const std::string kMeasure = "  - {opcode: createPods, count: 20, collectMetrics: true}\n";
const std::string kStart = "  - {opcode: startCollectingMetrics, name: m, namespaces: [m]}\n";
const std::string kStop = "  - {opcode: stopCollectingMetrics}\n";

TEST_F(WorkloadTest, CreatePodsMeasuresItsOwnPods) {
  const RunOutcome outcome = Run(kNodes + "  - {opcode: createPods, count: 7}\n" + kMeasure);
  EXPECT_EQ(outcome.pods, 20u);
  EXPECT_EQ(Counter(outcome,
                    "scheduler_schedule_attempts_total{result=\"scheduled\",profile="
                    "\"default-scheduler\"}"),
            20u);
  const DataItem& throughput = outcome.repetition.metrics.at(0);
  EXPECT_EQ(throughput.labels.at("Metric"), "SchedulingThroughput");
  EXPECT_EQ(throughput.labels.at("Name"), "C/W/namespace-2");
  EXPECT_GT(throughput.data.at("Average"), 0);
  EXPECT_EQ(outcome.repetition.latencies.at("pod_scheduled").count, 20u);
  EXPECT_THAT(outcome.metrics_text, HasSubstr("scheduler_pending_pods"));
}

// The estimate before the run knows nothing of waits.
TEST_F(WorkloadTest, EndsWhereItHoldsTooMuch) {
  const std::string churn =
      "  - {opcode: churn, mode: create, intervalMilliseconds: 5, templatePaths: [huge.yaml]}\n";
  const std::string endless = "  - {opcode: createPods, count: 1, podTemplatePath: huge.yaml}\n";
  RunOptions options;
  options.objects_max = 500;
  const Result<RunOutcome> ended = TryRun(kNodes + churn + endless + kMeasure, options);
  ASSERT_FALSE(ended.ok());
  EXPECT_THAT(ended.error().message(),
              HasSubstr("w.yaml:5: createPods: there are more than 500 objects"));
  EXPECT_TRUE(TryRun(kNodes + churn + kMeasure, options).ok());
}

// scheduler_perf looks at once and then once a second, and the churn goes on until it has looked.
TEST_F(WorkloadTest, AWaitForPodsEndsAtTheNextLook) {
  const std::string churn =
      "  - {opcode: churn, mode: create, intervalMilliseconds: 150, templatePaths: [huge.yaml]}\n";
  const std::string added =
      "scheduler_queue_incoming_pods_total{queue=\"active\",event=\"UnscheduledPodAdd\"}";
  const RunOutcome outcome = Run(kNodes + churn + kMeasure);
  EXPECT_NEAR(outcome.repetition.seconds, 1.0, 0.05);
  EXPECT_LT(outcome.active, std::chrono::milliseconds(200)) << "all were bound long before";
  EXPECT_EQ(Counter(outcome, added), 26u) << "20 pods, and six of the churn";
  const RunOutcome nothing_to_wait_for =
      Run(kNodes + "  - {opcode: createPods, namespace: m, count: 3}\n" + kStart +
          "  - {opcode: barrier, namespaces: [m]}\n" + kStop);
  EXPECT_EQ(nothing_to_wait_for.repetition.seconds, 0) << "the first look is at once";
}

TEST_F(WorkloadTest, TheTailIsCountedInTheWholeAndNotInTheSection) {
  const std::string churn =
      "  - {opcode: churn, mode: create, intervalMilliseconds: 150, templatePaths: [huge.yaml]}\n";
  const std::string added =
      "scheduler_queue_incoming_pods_total{queue=\"active\",event=\"UnscheduledPodAdd\"}";
  RunOptions options;
  options.tail = std::chrono::milliseconds(1300);
  const RunOutcome outcome = Run(kNodes + churn + kMeasure, options);
  EXPECT_EQ(Counter(outcome, added), 26u);
  EXPECT_EQ(outcome.counters.at(added), 35u) << "nine more of the churn";
  EXPECT_EQ(Run(kNodes + churn + kMeasure).counters.at(added), 26u);
}

TEST_F(WorkloadTest, ActivityIsThatOfAllPodsWhileASectionIsOpen) {
  const RunOutcome outcome = Run(kNodes + "  - {opcode: createPods, count: 7}\n" + kStart +
                                 "  - {opcode: createPods, namespace: other, count: 5}\n"
                                 "  - {opcode: createPods, namespace: m, count: 3}\n" +
                                 kStop);
  EXPECT_EQ(outcome.pods, 3u);
  EXPECT_EQ(outcome.pods_of_all, 8u);
  EXPECT_GT(outcome.active, std::chrono::seconds(1)) << "the second look lies between";
  EXPECT_LT(outcome.active, std::chrono::milliseconds(1300));
}

TEST_F(WorkloadTest, BoundPodsWithAGracePeriodStay) {
  const std::string fill = kNodes + "  - {opcode: createPods, namespace: m, count: 10}\n" + kStart;
  const RunOutcome outcome = Run(fill + "  - {opcode: deletePods, namespace: m}\n" +
                                 "  - {opcode: sleep, duration: 1m}\n" + kStop);
  EXPECT_EQ(Counter(outcome,
                    "scheduler_event_handling_duration_seconds_count{event=\"AssignedPodDelete\"}"),
            0u);
}

// A churn of a few objects beside a sleep of a year ticked for the whole year.
TEST_F(WorkloadTest, AChurnThatHasCreatedAllStops) {
  const std::string churn =
      "  - {opcode: churn, mode: create, number: 5, intervalMilliseconds: 1, templatePaths: "
      "[huge.yaml]}\n";
  const auto begin = std::chrono::steady_clock::now();
  Run(kNodes + churn + "  - {opcode: sleep, duration: 2000h}\n" + kMeasure);
  // 7.2 billion ticks would take an hour.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(2));
}

TEST_F(WorkloadTest, EqualInputsGiveEqualBytesAndOtherSeedsOtherOnes) {
  const auto text = [&](uint64_t seed) {
    RunOptions options;
    options.seed = seed;
    RunDocument document;
    document.workloads.emplace_back().repetitions = {
        Run(kNodes +
                "  - {opcode: churn, mode: recreate, number: 1, intervalMilliseconds: 20, "
                "templatePaths: [huge.yaml]}\n" +
                kMeasure,
            options)
            .repetition};
    document.workloads[0].repetitions[0].seed = 0;
    return *DocumentText(document);
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST_F(WorkloadTest, PodSetsAndNamespacesAndBarriers) {
  const RunOutcome outcome =
      Run(kNodes + "  - {opcode: createNamespaces, prefix: m, count: 2}\n" +
          "  - {opcode: startCollectingMetrics, name: m, namespaces: [m-0, m-1]}\n" +
          "  - opcode: createPodSets\n    count: 2\n    namespacePrefix: m\n    createPodsOp:\n"
          "      {opcode: createPods, count: 5, skipWaitToCompletion: true}\n" +
          "  - {opcode: barrier}\n" + kStop);
  EXPECT_EQ(outcome.pods, 10u);
}

TEST_F(WorkloadTest, NamespacesHaveTheLabelsOfTheirTemplate) {
  const std::string spaces =
      "  - {opcode: createNamespaces, prefix: m, count: 2, namespaceTemplatePath: team.yaml}\n";
  const std::string pods =
      "  - {opcode: createPods, namespace: m-1, count: 3, podTemplatePath: team-pod.yaml, "
      "collectMetrics: true}\n";
  EXPECT_EQ(Run(kNodes + spaces + pods).pods, 3u);
  EXPECT_EQ(Run(kNodes + spaces + spaces + pods).pods, 3u) << "the first stays";
  const Result<RunOutcome> plain = TryRun(kNodes + pods);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->outcome, WorkloadOutcome::kFailed) << "no namespace is of the team";
}

TEST_F(WorkloadTest, AttemptedIsEnoughForABarrierThatSaysSo) {
  const RunOutcome outcome =
      Run(kNodes + kStart +
          "  - {opcode: createPods, namespace: m, count: 5, podTemplatePath: huge.yaml, "
          "skipWaitToCompletion: true}\n"
          "  - {opcode: barrier, namespaces: [m], stageRequirement: Attempted}\n" +
          kStop);
  EXPECT_EQ(outcome.pods, 0u);
  EXPECT_EQ(Counter(outcome,
                    "scheduler_schedule_attempts_total{result=\"unschedulable\",profile="
                    "\"default-scheduler\"}"),
            5u);
}

TEST_F(WorkloadTest, WhatNeverComesToItsEndFailsAndSaysSo) {
  const Result<RunOutcome> outcome = TryRun(
      kNodes +
      "  - {opcode: createPods, count: 5, podTemplatePath: huge.yaml, collectMetrics: true}\n");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->outcome, WorkloadOutcome::kFailed);
  EXPECT_THAT(outcome->reason, HasSubstr("w.yaml:4: createPods"));
  EXPECT_THAT(outcome->reason, HasSubstr("0 of 5 pods scheduled"));
}

TEST_F(WorkloadTest, DeletePodsMakesRoomAtItsRate) {
  const std::string fill =
      kNodes + "  - {opcode: createPods, namespace: m, count: 10, podTemplatePath: quick.yaml}\n" +
      kStart;
  const std::string remove = "  - {opcode: deletePods, namespace: m, deletePodsPerSecond: 10}\n";
  const RunOutcome slow = Run(fill + remove + kStop);
  EXPECT_NEAR(slow.repetition.seconds, 1.0, 0.1);
  EXPECT_EQ(
      Counter(slow, "scheduler_event_handling_duration_seconds_count{event=\"AssignedPodDelete\"}"),
      9u)
      << "the last one is still on its way to the scheduler";
  const RunOutcome fast = Run(fill + "  - {opcode: deletePods, namespace: m}\n" + kStop);
  EXPECT_LT(fast.repetition.seconds, 0.1);
  const RunOutcome beside = Run(fill +
                                "  - {opcode: deletePods, namespace: m, deletePodsPerSecond: 10, "
                                "skipWaitToCompletion: true}\n" +
                                kStop);
  EXPECT_EQ(beside.repetition.seconds, 0);
}

TEST_F(WorkloadTest, ChurnCreatesAndRecreates) {
  const auto events = [&](const std::string& mode) {
    const RunOutcome outcome =
        Run(kStart + "  - {opcode: churn, mode: " + mode +
            ", number: 2, intervalMilliseconds: 100, templatePaths: [huge.yaml]}\n"
            "  - {opcode: sleep, duration: 850ms}\n" +
            kStop);
    return std::pair(
        Counter(outcome,
                "scheduler_event_handling_duration_seconds_count{event=\"UnscheduledPodAdd\"}"),
        outcome.repetition.seconds);
  };
  // There are ticks at 100 to 800 ms. create makes two pods and no more; recreate fills, empties,
  // fills and empties its slots.
  EXPECT_EQ(events("create").first, 2u);
  EXPECT_EQ(events("recreate").first, 4u);
  EXPECT_NEAR(events("create").second, 0.85, 1e-9);
}

TEST_F(WorkloadTest, SteadyStateReplacesWhatIsScheduled) {
  const RunOutcome outcome =
      Run(kNodes +
          "  - {opcode: createPods, count: 3, steadyState: true, duration: 2s, "
          "collectMetrics: true}\n");
  EXPECT_NEAR(outcome.repetition.seconds, 2.0, 1e-9);
  EXPECT_GT(outcome.pods, 100u) << "far more than fit at once";
}

TEST_F(WorkloadTest, ClaimsAreCreatedAllocatedAndUsed) {
  const std::string devices = kNodes +
                              "  - {opcode: createAny, templatePath: class.yaml}\n"
                              "  - {opcode: createAny, count: 2, templatePath: devices.yaml}\n"
                              "  - {opcode: createAny, namespace: m, count: 4, "
                              "templatePath: claims.yaml}\n";
  const std::string pods =
      "  - {opcode: createPods, namespace: m, count: 4, podTemplatePath: claim-pod.yaml, "
      "collectMetrics: true}\n";
  EXPECT_EQ(Run(devices + pods).pods, 4u);
  EXPECT_EQ(Run(devices + "  - {opcode: allocResourceClaims, namespace: m}\n" + pods).pods, 4u);
  const Result<RunOutcome> too_many =
      TryRun(devices +
             "  - {opcode: createAny, namespace: o, count: 1, templatePath: claims.yaml}\n"
             "  - {opcode: allocResourceClaims}\n" +
             kMeasure);
  ASSERT_FALSE(too_many.ok());
  EXPECT_THAT(too_many.error().message(), HasSubstr("w.yaml:8: allocResourceClaims"));
}

TEST_F(WorkloadTest, WhatDoesNotRenderNamesItsPlace) {
  const Result<RunOutcome> outcome = TryRun(
      kNodes +
      "  - {opcode: createPods, count: 3, podTemplatePath: bad.yaml, collectMetrics: true}\n");
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message(), HasSubstr("bad.yaml:6"));
}

TEST_F(WorkloadTest, AnInterruptKeepsWhatWasMeasured) {
  RunOptions options;
  int polls = 0;
  options.interrupted = [&polls] { return ++polls > 3; };
  const Result<RunOutcome> outcome =
      TryRun(kNodes +
                 "  - {opcode: createPods, count: 200, steadyState: true, duration: 1h, "
                 "collectMetrics: true}\n",
             options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->outcome, WorkloadOutcome::kInterrupted);
  EXPECT_GT(outcome->pods, 0u);
  EXPECT_EQ(outcome->repetition.metrics.at(0).labels.at("Metric"), "SchedulingThroughput");
}

TEST_F(WorkloadTest, NarrowingAsksFarFewerHintsForTheSameOutcome) {
  const auto asked = [&](bool narrows) {
    GateRequest request;
    request.Set(Gate::kSchedulerPreQueueingHints, narrows);
    RunOptions options;
    options.gates = *Gates::Resolve(request);
    const RunOutcome outcome = Run(
        "  - {opcode: createNodes, count: 30, nodeTemplatePath: node.yaml}\n"
        "  - {opcode: createAny, templatePath: class.yaml}\n"
        "  - {opcode: createAny, count: 30, templatePath: devices.yaml}\n" +
            kStart +
            "  - {opcode: createPods, namespace: m, count: 50, podTemplatePath: claim-pod.yaml, "
            "skipWaitToCompletion: true}\n"
            "  - {opcode: createAny, namespace: m, count: 50, templatePath: claims.yaml}\n"
            "  - {opcode: barrier, namespaces: [m]}\n" +
            kStop,
        options);
    EXPECT_EQ(outcome.pods, 50u);
    uint64_t sum = 0;
    for (const auto& [name, count] : outcome.repetition.counters) {
      if (name.rfind("scheduler_queueing_hint_execution_duration_seconds", 0) == 0) sum += count;
    }
    return sum;
  };
  EXPECT_LT(asked(true) * 5, asked(false));
}

// A replay of a run's trace on the same engine has no mismatch.
TEST_F(WorkloadTest, ARecordedRunReplaysWithoutAMismatch) {
  std::vector<std::string> lines;
  TraceRecorder recorder([&lines](const std::string& line) { lines.push_back(line); });
  RunOptions options;
  options.recorder = &recorder;
  Run(kNodes +
          "  - {opcode: churn, mode: recreate, number: 1, intervalMilliseconds: 50, "
          "templatePaths: [huge.yaml]}\n"
          "  - {opcode: createAny, templatePath: class.yaml}\n"
          "  - {opcode: createAny, count: 2, templatePath: devices.yaml}\n"
          "  - {opcode: createPods, namespace: m, count: 4, podTemplatePath: claim-pod.yaml, "
          "skipWaitToCompletion: true}\n"
          "  - {opcode: createAny, namespace: m, count: 4, templatePath: claims.yaml}\n"
          "  - {opcode: barrier, namespaces: [m]}\n" +
          kMeasure,
      options);
  ASSERT_GT(lines.size(), 80u);
  const auto replayer = Replayer::Create(*ParseTraceHeader(lines[0]), EngineKind::kClassic);
  ASSERT_TRUE(replayer.ok());
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto operation = ParseTraceOperation(lines[i]);
    ASSERT_TRUE(operation.ok()) << operation.error().message();
    const auto outcome = (*replayer)->Apply(*operation);
    ASSERT_TRUE(outcome.ok()) << lines[i] << ": " << outcome.error().message();
    EXPECT_EQ(outcome->changed, operation->want->changed) << lines[i];
    EXPECT_EQ(outcome->popped, operation->want->popped) << lines[i];
  }
}

}  // namespace
}  // namespace schedq
