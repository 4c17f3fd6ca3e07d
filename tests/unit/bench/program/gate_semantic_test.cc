// Goal: the semantic gate passes the engine as it is and fails an engine with a fault, naming
// workload, metric, before, after and the command that shows it again.
// Method: the short workloads of the built-in suite run in this process, on the engine and on one
// with a planted fault; `schedq gate` judges the two folders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/suite/selection.h"
#include "bench/format/workload/model.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"
#include "engine/queue.h"
#include "perf/documents/document.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"
#include "tests/support/child_process.h"
#include "tests/unit/bench/sim/faulty_queue.h"

namespace schedq {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class GateSemanticTest : public testing::Test {
 protected:
  // The results of the short workloads on an engine with this fault, as a folder.
  std::string ResultsOf(const std::string& name, QueueFault fault) {
    const Result<std::vector<TestCase>> cases = SelectWorkloads({{}, "", "short"});
    EXPECT_TRUE(cases.ok());
    const CostModel costs = *LoadCostModel("upstream");
    RunDocument document;
    document.engine = "classic";
    document.seed = 1;
    document.cost_model = costs.name;
    for (const TestCase& test_case : *cases) {
      for (const Workload& workload : test_case.workloads) {
        RunOptions options;
        options.costs = &costs;
        options.seed = 1;
        options.gates = *Gates::Resolve(workload.gates);
        options.make_queue = [fault](QueueOptions queue) {
          return std::make_unique<FaultyQueue>(std::move(queue), fault);
        };
        Result<RunOutcome> outcome = RunWorkload(test_case, workload, options);
        EXPECT_TRUE(outcome.ok()) << test_case.name;
        WorkloadResult& result = document.workloads.emplace_back();
        result.test_case = test_case.name;
        result.workload = workload.name;
        result.definition = test_case.definition;
        result.outcome = outcome->outcome;
        result.reason = outcome->reason;
        result.repetitions.push_back(std::move(outcome->repetition));
      }
    }
    std::string folder = folder_.File(name);
    EXPECT_TRUE(WriteDocument(document, folder + "/results.json").ok());
    return folder;
  }
  ChildProcess::Ended Gate(const std::string& base, const std::string& next,
                           std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {SCHEDQ_PROGRAM, "gate", "--base", base, "--new", next};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }
  std::string Path(const std::string& name) const { return folder_.File(name); }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::Make());
};

TEST_F(GateSemanticTest, AnEngineWithoutFaultPasses) {
  const std::string base = ResultsOf("base", QueueFault::kNone);
  const ChildProcess::Ended ended = Gate(base, ResultsOf("new", QueueFault::kNone));
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(": 0 differ"));
  EXPECT_THAT(ended.out, StartsWith("semantic: pass"));
}

TEST_F(GateSemanticTest, EachFaultFailsByName) {
  const std::string base = ResultsOf("base", QueueFault::kNone);
  struct Canary {
    QueueFault fault;
    const char* workload;
    const char* metric;
  };
  for (const Canary& canary : {Canary{QueueFault::kNoNarrowing, "ClaimTemplates/5Nodes_20Pods",
                                      "scheduler_queueing_hint_execution_duration_seconds_count"},
                               Canary{QueueFault::kDoubledRequeue, "BackoffHeavy/500Pods",
                                      "scheduler_queue_incoming_pods_total"},
                               Canary{QueueFault::kLostBackoffFlush, "BackoffHeavy/50Pods_InOrder",
                                      "schedq_idle_with_backoff_microseconds_total"},
                               Canary{QueueFault::kLostUnschedulableFlush, "LongWait/10Waiting",
                                      "scheduler_schedule_attempts_total"}}) {
    SCOPED_TRACE(canary.metric);
    const std::string next =
        ResultsOf("new" + std::to_string(static_cast<int>(canary.fault)), canary.fault);
    const ChildProcess::Ended ended =
        Gate(base, next, {"--junit", Path("gate.xml"), "--markdown", Path("gate.md")});
    EXPECT_EQ(ended.exit_code, 1);
    // The workload above its rows: metric with labels, before, after, allowance.
    EXPECT_THAT(ended.out, HasSubstr("\n" + std::string(canary.workload) + " "));
    EXPECT_THAT(ended.out,
                ContainsRegex("\n" + std::string(canary.metric) + "[^ ]* +[0-9]+ +[0-9]+ +exact"));
    EXPECT_THAT(ended.out, HasSubstr("reproduce: schedq run --name '^" +
                                     std::string(canary.workload) + "$' --seed 1"));
    EXPECT_THAT(ended.out, StartsWith("semantic: FAIL"));
    EXPECT_THAT(ended.err, HasSubstr("schedq gate: the semantic tier fails"));
    EXPECT_THAT(*ReadWholeFile(Path("gate.xml")),
                AllOf(HasSubstr("<failure message="), HasSubstr(canary.workload)));
    EXPECT_THAT(*ReadWholeFile(Path("gate.md")),
                AllOf(HasSubstr(canary.workload), HasSubstr(canary.metric)));
  }
}

TEST_F(GateSemanticTest, AnAllowanceLetsACounterChange) {
  const std::string base = ResultsOf("base", QueueFault::kNone);
  const std::string next = ResultsOf("new", QueueFault::kDoubledRequeue);
  const ChildProcess::Ended ended = Gate(base, next, {"--threshold", ".=1000000"});
  EXPECT_THAT(ended.out, Not(HasSubstr(" 0 within their allowance")));
}

}  // namespace
}  // namespace schedq
