// Goal: the audit at the end of a run blames the scheduler for what it lost, and for nothing that
// is still under way.
// Method: workloads whose load runs on behind their last operation, with informers that deliver at
// once and seconds late. The canary is a queue that drops a pod.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/classic/classic_queue.h"
#include "engine/pod.h"
#include "engine/queue.h"
#include "perf/documents/run_document.h"
#include "schedq/assembly_options.h"
#include "tests/support/queue/forwarding_queue.h"
#include "tests/unit/bench/format/workload_test_files.h"
#include "tests/unit/bench/sim/run_test_objects.h"

namespace schedq {
namespace {

using testing::HasSubstr;

const std::string kNodes = "  - {opcode: createNodes, count: 2}\n";
const std::string kMeasure = "  - {opcode: createPods, count: 20, collectMetrics: true}\n";

std::string ChurnText(const std::string& mode) {
  return "  - {opcode: churn, " + mode + ", intervalMilliseconds: 7, templatePaths: [huge.yaml]}\n";
}

RunOutcome RunOnce(const std::string& ops, Duration informer_delay,
                   QueueMaker make_queue = nullptr) {
  const Result<std::vector<TestCase>> cases =
      DecodeText(CaseOf(ops), {{"huge.yaml", kHugePodYaml}});
  EXPECT_TRUE(cases.ok()) << cases.error().message();
  CostModel costs = *LoadCostModel("upstream");
  costs.informer_delay = informer_delay;
  RunOptions options;
  options.costs = &costs;
  options.make_queue = std::move(make_queue);
  Result<RunOutcome> outcome = RunWorkload((*cases)[0], (*cases)[0].workloads[0], options);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message();
  return std::move(*outcome);
}

TEST(RunAudit, BlamesNobodyForWhatIsUnderWay) {
  const std::string late =
      "  - {opcode: createPods, count: 50, skipWaitToCompletion: true, arrivals: {process: "
      "constant, perSecond: 5}}\n";
  for (const Duration delay :
       {Duration(0), Duration(std::chrono::milliseconds(1)), Duration(std::chrono::seconds(1)),
        Duration(std::chrono::seconds(9))}) {
    SCOPED_TRACE(std::chrono::duration<double>(delay).count());
    for (const std::string& load :
         {ChurnText("mode: create"), ChurnText("mode: recreate, number: 3"),
          ChurnText("mode: create, number: 100000"), late}) {
      const RunOutcome outcome = RunOnce(kNodes + load + kMeasure, delay);
      EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << load << outcome.reason;
    }
  }
}

// Drops the first pod of a churn, as if the scheduler had forgotten it.
class ForgetfulQueue final : public ForwardingQueue {
 public:
  explicit ForgetfulQueue(QueueOptions options)
      : ForwardingQueue(std::make_unique<ClassicQueue>(std::move(options))) {}

  Status Add(PodRef pod) override {
    if (!has_forgotten_ && pod->name.starts_with("huge-")) {
      has_forgotten_ = true;
      return Status::Ok();
    }
    return inner().Add(std::move(pod));
  }

 private:
  bool has_forgotten_ = false;
};

TEST(RunAudit, FindsAPodThatTheSchedulerLost) {
  for (const Duration delay :
       {Duration(std::chrono::milliseconds(1)), Duration(std::chrono::seconds(1))}) {
    const RunOutcome outcome = RunOnce(
        kNodes + ChurnText("mode: create") + kMeasure, delay,
        [](QueueOptions options) { return std::make_unique<ForgetfulQueue>(std::move(options)); });
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kFailed);
    EXPECT_THAT(outcome.reason, HasSubstr("the audit found 1 faults: pod namespace-1/huge-"));
    EXPECT_THAT(outcome.reason, HasSubstr("is lost"));
  }
}

}  // namespace
}  // namespace schedq
