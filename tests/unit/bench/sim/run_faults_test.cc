// Goal: whatever fails on the way to the API server and back, every pod is bound in the end, none
// is lost, and the run is the same each time and on both engines.
// Method: workloads with faults, audited as every run is; what the faults play is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "bench/format/workload/fault.h"
#include "bench/sim/calls/call_settings.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "engine/gates.h"
#include "perf/documents/document.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"
#include "tests/unit/bench/format/workload_test_files.h"
#include "tests/unit/bench/sim/run_ops.h"
#include "tests/unit/bench/sim/run_test_objects.h"

namespace schedq {
namespace {

using testing::HasSubstr;

TestFiles Files() {
  return {{"node.yaml", kNodeYaml},         {"huge.yaml", kHugePodYaml},
          {"pod.yaml", kSmallPodYaml},      {"devices.yaml", kDevicesYaml},
          {"class.yaml", kClassYaml},       {"claim-template.yaml", kClaimTemplateYaml},
          {"claim-pod.yaml", kClaimPodYaml}};
}

const std::string kNodes = "  - {opcode: createNodes, count: 4, nodeTemplatePath: node.yaml}\n";
const std::string kPods =
    "  - {opcode: createPods, count: 60, podTemplatePath: pod.yaml, collectMetrics: true}\n";
const std::string kDevices =
    kNodes +
    "  - {opcode: createAny, templatePath: class.yaml}\n"
    "  - {opcode: createAny, count: 4, templatePath: devices.yaml}\n"
    "  - {opcode: createAny, namespace: m, templatePath: claim-template.yaml}\n";
const std::string kClaimPods =
    "  - {opcode: createPods, namespace: m, count: 8, podTemplatePath: claim-pod.yaml, "
    "collectMetrics: true}\n";

class FaultRuns : public testing::TestWithParam<ClockAndEngine> {
 protected:
  static RunOutcome Run(const std::string& ops, RunOptions options = {}) {
    return RunOps(ops, Files(), GetParam(), std::move(options));
  }
  static uint64_t Sum(const RunOutcome& outcome, const std::string& name,
                      const std::string& part = "") {
    uint64_t sum = 0;
    for (const auto& [sample, count] : outcome.counters) {
      if (sample.starts_with(name) && sample.find(part) != std::string::npos) sum += count;
    }
    return sum;
  }
  static bool IsVirtual() { return std::get<ClockKind>(GetParam()) == ClockKind::kVirtual; }
  static RunOptions Asynchronous(bool on) {
    GateRequest request;
    request.Set(Gate::kSchedulerAsyncAPICalls, on);
    RunOptions options;
    options.gates = *Gates::Resolve(request);
    return options;
  }
};

// Three repetitions do not help against an error in two calls of three.
TEST_P(FaultRuns, PodsWhoseBindingsFailBackOffAndAreBound) {
  for (const bool asynchronous : {true, false}) {
    const RunOutcome outcome =
        Run(kNodes +
                "  - {opcode: injectFault, fault: errors, percent: 66, calls: [bind], duration: "
                "2s}\n" +
                kPods,
            Asynchronous(asynchronous));
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    EXPECT_EQ(outcome.pods, 60u);
    EXPECT_GT(Sum(outcome, "scheduler_schedule_attempts_total", "result=\"error\""), 0u);
    EXPECT_EQ(Sum(outcome, "scheduler_schedule_attempts_total", "result=\"scheduled\""), 60u);
  }
}

TEST_P(FaultRuns, AnOutageOfAllCallsIsSurvived) {
  for (const bool asynchronous : {true, false}) {
    const RunOutcome outcome =
        Run(kDevices + "  - {opcode: injectFault, fault: errors, duration: 700ms}\n" + kClaimPods,
            Asynchronous(asynchronous));
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    EXPECT_EQ(outcome.pods, 8u);
  }
}

TEST_P(FaultRuns, ClaimsThatAreRefusedAreStoredByALaterAttempt) {
  const RunOutcome outcome =
      Run(kDevices +
          "  - {opcode: injectFault, fault: errors, percent: 40, calls: [claim], duration: 3s}\n" +
          kClaimPods);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 8u);
}

// The pods know of their claims by their own updates, whichever comes first.
TEST_P(FaultRuns, JumbledInformersMissNoWakeUp) {
  for (const char* const kind : {"Pod", "ResourceClaim", "ResourceSlice", "Node"}) {
    const RunOutcome outcome = Run(std::string("  - {opcode: injectFault, fault: lag, of: ") +
                                   kind + ", delay: 30ms, jitter: 60ms}\n" + kDevices + kClaimPods);
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << kind << ": " << outcome.reason;
    EXPECT_EQ(outcome.pods, 8u) << kind;
    EXPECT_EQ(Sum(outcome, "scheduler_pod_scheduled_after_flush_total"), 0u) << kind;
  }
}

TEST_P(FaultRuns, SlowControllersAreWaitedFor) {
  RunOptions options;
  const RunOutcome quick = Run(kDevices + kClaimPods, options);
  options.faults = {*ParseFault("controllers,delay=200ms")};
  const RunOutcome slow = Run(kDevices + kClaimPods, options);
  EXPECT_EQ(slow.outcome, WorkloadOutcome::kMeasured) << slow.reason;
  EXPECT_EQ(slow.pods, 8u);
  EXPECT_GT(slow.repetition.latencies.at("pod_scheduled").p50_ns,
            quick.repetition.latencies.at("pod_scheduled").p50_ns + 100'000'000u);
}

INSTANTIATE_TEST_SUITE_P(All, FaultRuns, ClocksAndEngines(), NameOfClockAndEngine);

class VirtualFaultRuns : public FaultRuns {};

// A patch is repeated after 10, 50 and 250 ms, so a short outage hides none.
TEST_P(VirtualFaultRuns, APatchIsRepeatedThroughAShortOutage) {
  const std::string huge =
      "  - {opcode: createPods, namespace: h, count: 5, podTemplatePath: huge.yaml, "
      "skipWaitToCompletion: true}\n"
      "  - {opcode: barrier, namespaces: [h], stageRequirement: Attempted}\n";
  for (const bool asynchronous : {true, false}) {
    const RunOutcome outcome =
        Run(kNodes + "  - {opcode: injectFault, fault: errors, calls: [patch], duration: 100ms}\n" +
                huge + kPods,
            Asynchronous(asynchronous));
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    EXPECT_EQ(Sum(outcome, "scheduler_async_api_call_execution_total", "result=\"error\""), 0u);
  }
}

// What PreEnqueue said in an outage is said again when the flush evaluates the pods.
TEST_P(VirtualFaultRuns, TheFlushRepeatsRejectionsThatAnOutageSwallowed) {
  const std::string waiting =
      "  - {opcode: createPods, namespace: m, count: 5, podTemplatePath: claim-pod.yaml, "
      "skipWaitToCompletion: true}\n";
  GateRequest request;
  request.Set(Gate::kSchedulerPreEnqueuePodStatus, true);
  RunOptions options;
  options.gates = *Gates::Resolve(request);
  const auto shown = [&](const std::string& outage, const std::string& sleep) {
    const RunOutcome outcome =
        Run(kNodes + outage + waiting + "  - {opcode: sleep, duration: " + sleep + "}\n" + kPods,
            options);
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    return Sum(outcome, "schedq_pod_events_total", "NotReadyForScheduling");
  };
  const std::string outage = "  - {opcode: injectFault, fault: errors, duration: 10s}\n";
  EXPECT_EQ(shown("", "20s"), 5u);
  EXPECT_EQ(shown(outage, "20s"), 0u) << "the outage swallowed them";
  EXPECT_EQ(shown(outage, "340s"), 5u) << "the flush rescues them after five minutes";
}

TEST_P(VirtualFaultRuns, EqualSeedsGiveEqualBytesAndOtherSeedsOtherFaults) {
  const auto text = [](EngineKind engine, uint64_t seed) {
    RunOptions options;
    options.seed = seed;
    options.faults = {*ParseFault("errors,percent=30"),
                      *ParseFault("lag,of=Pod,delay=5ms,jitter=50ms")};
    RunDocument document;
    document.workloads.emplace_back().repetitions = {
        RunOps(kDevices + kClaimPods, Files(), {ClockKind::kVirtual, engine}, options).repetition};
    document.workloads[0].repetitions[0].seed = 0;
    return *DocumentText(document);
  };
  const EngineKind engine = std::get<EngineKind>(GetParam());
  EXPECT_EQ(text(engine, 1), text(EngineKind::kLockfree, 1));
  EXPECT_NE(text(engine, 1), text(engine, 2));
}

INSTANTIATE_TEST_SUITE_P(All, VirtualFaultRuns,
                         testing::Combine(testing::Values(ClockKind::kVirtual),
                                          testing::Values(EngineKind::kLockfree,
                                                          EngineKind::kClassic)),
                         NameOfClockAndEngine);

// --- How calls reach the API server ---

class CallOrderRuns : public VirtualFaultRuns {
 protected:
  // Pods that fit nowhere come first, and then pods that fit.
  static RunOutcome RunFlood(const CallSettings& calls) {
    RunOptions options;
    options.calls = calls;
    options.calls.calls_per_second = 20;
    return Run(kNodes +
                   "  - {opcode: createPods, namespace: h, count: 300, podTemplatePath: huge.yaml, "
                   "skipWaitToCompletion: true}\n"
                   "  - {opcode: createPods, count: 20, podTemplatePath: pod.yaml, collectMetrics: "
                   "true}\n",
               options);
  }
  static double WaitOf(const CallSettings& calls) {
    const RunOutcome outcome = RunFlood(calls);
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    EXPECT_EQ(outcome.pods, 20u);
    return static_cast<double>(outcome.repetition.latencies.at("pod_scheduled").max_ns) / 1e9;
  }
};

TEST_P(CallOrderRuns, BindingsWaitBehindPatchesByArrivalOnly) {
  CallSettings by_arrival;
  by_arrival.order = CallOrder::kArrival;
  EXPECT_GT(WaitOf(by_arrival), 15) << "300 patches and as many events, 20 calls a second";
  EXPECT_LT(WaitOf({}), 3) << "20 bindings, and what the scheduler itself takes";
}

TEST_P(CallOrderRuns, EachProposalLetsBindingsPassInItsWay) {
  CallSettings by_arrival;
  by_arrival.order = CallOrder::kArrival;
  by_arrival.events_have_client = true;
  const double base = WaitOf(by_arrival);
  CallSettings limited = by_arrival;
  limited.patches_in_flight_max = 4;
  EXPECT_LT(WaitOf(limited), base / 2);
  CallSettings apart = by_arrival;
  apart.bindings_have_client = true;
  EXPECT_LT(WaitOf(apart), base / 2);
}

// Without the gate pods are tried again while their patches wait.
TEST_P(CallOrderRuns, TheReentryGateTriesNoPodWhosePatchWaits) {
  const auto attempts = [](bool gates) {
    RunOptions options;
    options.calls.order = CallOrder::kArrival;
    options.calls.calls_per_second = 5;
    options.calls.burst = 5;
    options.calls.gates_reentry = gates;
    const RunOutcome outcome =
        Run(kNodes +
                "  - {opcode: createPods, namespace: h, count: 40, podTemplatePath: huge.yaml, "
                "skipWaitToCompletion: true}\n"
                "  - {opcode: churn, mode: recreate, number: 1, intervalMilliseconds: 200, "
                "templatePaths: [pod.yaml]}\n"
                "  - {opcode: startCollectingMetrics, name: m, namespaces: [h]}\n"
                "  - {opcode: sleep, duration: 6s}\n  - {opcode: stopCollectingMetrics}\n",
            options);
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    return Sum(outcome, "scheduler_schedule_attempts_total", "unschedulable");
  };
  // 5 calls a second end few patches in 6 seconds. Pods whose patch has ended are tried again.
  EXPECT_LT(attempts(true) * 2, attempts(false));
}

INSTANTIATE_TEST_SUITE_P(All, CallOrderRuns,
                         testing::Combine(testing::Values(ClockKind::kVirtual),
                                          testing::Values(EngineKind::kLockfree,
                                                          EngineKind::kClassic)),
                         NameOfClockAndEngine);

}  // namespace
}  // namespace schedq
