// Goal: on the real clock every pod that can be scheduled is, whatever the engine and the number of
// scheduling threads, and the audit of the end finds a pod that was lost.
// Method: small workloads from text, run at the machine's pace; planted faults as canaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"
#include "tests/support/queue/forwarding_queue.h"
#include "tests/unit/bench/format/workload_test_files.h"
#include "tests/unit/bench/sim/run_ops.h"
#include "tests/unit/bench/sim/run_test_objects.h"

namespace schedq {
namespace {

using testing::HasSubstr;

constexpr const char* kSecondNode =
    "apiVersion: v1\nkind: Node\nmetadata: {name: second}\n"
    "status: {capacity: {cpu: '4', memory: 32Gi, pods: '110'}}\n";

TestFiles Files() {
  return {{"node.yaml", kNodeYaml},
          {"second.yaml", kSecondNode},
          {"small.yaml", kSmallPodYaml},
          {"devices.yaml", kDevicesYaml},
          {"class.yaml", kClassYaml},
          {"template.yaml", kClaimTemplateYaml},
          {"template-pod.yaml", kClaimPodYaml}};
}

class RealRunTest : public testing::TestWithParam<EngineKind> {
 protected:
  static RunOutcome Run(const std::string& ops, RunOptions options = {},
                        const std::string& cost_model = "") {
    return RunOps(ops, Files(), {ClockKind::kReal, GetParam()}, std::move(options), cost_model);
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
  EXPECT_EQ(outcome.repetition.latencies.at("pod_popped").count, 700u);
  ASSERT_TRUE(outcome.repetition.real.has_value());
  EXPECT_GT(outcome.repetition.real->cpu_by_thread.at("cluster"), 0);
  EXPECT_GT(outcome.repetition.real->cpu_by_part.at("placing"), 0);
  // No event has brought a pod back.
  EXPECT_EQ(outcome.repetition.latencies.count("event_requeued"), 0u);
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
  // The new node is an event for each pod that waits.
  ASSERT_EQ(outcome.repetition.latencies.count("event_requeued"), 1u);
  EXPECT_GE(outcome.repetition.latencies.at("event_requeued").count, 20u);
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

// Each lives for 30 ticks, which is longer than a busy machine takes to bind it.
constexpr const char* kChurnOfPods =
    "  - {opcode: createNodes, count: 20, nodeTemplatePath: node.yaml}\n"
    "  - {opcode: churn, mode: recreate, number: 30, intervalMilliseconds: 1, namespace: a, "
    "templatePaths: [small.yaml, second.yaml]}\n"
    "  - {opcode: createPods, count: 10, podTemplatePath: small.yaml, collectMetrics: true}\n";

// The churn goes on behind the last operation, in a section of its own.
TEST_P(RealRunTest, AChurnGoesOnForTheDuration) {
  RunOptions options;
  options.duration = std::chrono::milliseconds(400);
  const RunOutcome outcome = Run(kChurnOfPods, options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_GT(outcome.pods, 20u);
  EXPECT_GE(outcome.repetition.seconds, 0.4);
  ASSERT_TRUE(outcome.repetition.real.has_value());
  ASSERT_TRUE(outcome.repetition.real->memory.has_value());
  EXPECT_GT(outcome.repetition.real->memory->bytes_at_tenth, 0u);
  EXPECT_GT(outcome.repetition.real->memory->bytes_at_end, 0u);
}

// Each pod takes the slot of one that is gone, and none of them counts as popped twice.
TEST_P(RealRunTest, ASteadyStateGoesOnForTheDuration) {
  RunOptions options;
  options.duration = std::chrono::milliseconds(400);
  options.scheduling_threads = 2;
  const RunOutcome outcome =
      Run("  - {opcode: createNodes, count: 20, nodeTemplatePath: node.yaml}\n"
          "  - {opcode: createPods, count: 30, podTemplatePath: small.yaml, steadyState: true, "
          "duration: 1ms, collectMetrics: true}\n",
          options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_GT(outcome.pods, 100u);
  EXPECT_GE(outcome.repetition.seconds, 0.4);
}

TEST_P(RealRunTest, WithoutADurationNothingGoesOn) {
  const RunOutcome outcome = Run(kChurnOfPods);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 10u);
  ASSERT_TRUE(outcome.repetition.real.has_value());
  EXPECT_FALSE(outcome.repetition.real->memory.has_value());
}

// An interrupted run is not waited for, so the model's latencies leave calls without an answer.
TEST_P(RealRunTest, ARunEndsWhileCallsAreUnderWay) {
  RunOptions options;
  options.interrupted = [] { return true; };
  const RunOutcome outcome = Run(
      "  - {opcode: createNodes, count: 20, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createPods, count: 2000, podTemplatePath: small.yaml, collectMetrics: true}\n",
      options, kUpstreamModel);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kInterrupted) << outcome.reason;
}

// Every eighth pop gives the pod of the pop before it once more.
class DoublePops final : public ForwardingQueue {
 public:
  DoublePops(EngineKind engine, QueueOptions options)
      : ForwardingQueue(MakeQueue(engine, std::move(options))) {}

  std::optional<PoppedPod> TryPop() override { return Doubled(inner().TryPop()); }
  std::optional<PoppedPod> Pop(std::optional<Duration> timeout) override {
    return Doubled(inner().Pop(timeout));
  }

 private:
  std::optional<PoppedPod> Doubled(std::optional<PoppedPod> popped) {
    constexpr int kEvery = 8;
    if (!popped) return popped;
    if (++pops_ % kEvery == 0) std::swap(*popped, last_);
    last_ = *popped;
    return popped;
  }

  int pops_ = 0;
  PoppedPod last_;
};

// Every eighth pod never reaches the engine.
class LostAdds final : public ForwardingQueue {
 public:
  LostAdds(EngineKind engine, QueueOptions options)
      : ForwardingQueue(MakeQueue(engine, std::move(options))) {}

  Status Add(PodRef pod) override {
    constexpr int kEvery = 8;
    return ++adds_ % kEvery == 0 ? Status::Ok() : inner().Add(std::move(pod));
  }

 private:
  int adds_ = 0;
};

constexpr const char* kNobodyWaits =
    "  - {opcode: createNodes, count: 20, nodeTemplatePath: node.yaml}\n"
    "  - {opcode: createPods, count: 100, namespace: a, podTemplatePath: small.yaml, "
    "skipWaitToCompletion: "
    "true}\n"
    "  - {opcode: startCollectingMetrics, name: m, namespaces: [a]}\n"
    "  - {opcode: sleep, duration: 300ms}\n"
    "  - {opcode: stopCollectingMetrics}\n";

template <typename Faulty>
RunOptions WithFault(EngineKind engine) {
  RunOptions options;
  options.make_queue = [engine](QueueOptions queue) {
    return std::make_unique<Faulty>(engine, std::move(queue));
  };
  return options;
}

class RealRunCanary : public RealRunTest {};

INSTANTIATE_TEST_SUITE_P(Engines, RealRunCanary,
                         testing::Values(EngineKind::kLockfree, EngineKind::kClassic),
                         [](const auto& info) { return std::string(EngineName(info.param)); });

TEST_P(RealRunCanary, APodThatIsPoppedTwiceIsFound) {
  const RunOutcome outcome = Run(kNobodyWaits, WithFault<DoublePops>(GetParam()));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("pops of a pod that was in an attempt already"));
}

TEST_P(RealRunCanary, APodThatIsLostIsFound) {
  const RunOutcome outcome = Run(kNobodyWaits, WithFault<LostAdds>(GetParam()));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("is lost"));
}

TEST_P(RealRunCanary, TheSameLoadWithoutAFaultIsFine) {
  const RunOutcome outcome = Run(kNobodyWaits);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
}

}  // namespace
}  // namespace schedq
