// Goal: runs of workloads on the virtual clock share nothing that one of them writes. Played at
// once on several threads, each does what it does alone.
// Method: the small workloads of the built-in suites on both engines, each several times at once;
// the counters and the final metrics of each are compared with a run that was alone. Under the
// thread sanitizer, which sees what is shared without an order.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/format/suite/needs.h"
#include "bench/format/suite/selection.h"
#include "bench/format/workload/model.h"
#include "bench/side_by_side.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

struct Played {
  std::string metrics_text;
  std::map<std::string, uint64_t> counters;
  double seconds = 0;

  bool operator==(const Played&) const = default;
};

struct Task {
  const TestCase* test_case;
  const Workload* workload;
  EngineKind engine;

  std::string Name() const { return test_case->name + "/" + workload->name; }
};

class SideBySideStressTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* suite : {"builtin", "kep"}) {
      WorkloadSelection selection;
      selection.suite = suite;
      selection.labels = "short";
      Result<std::vector<TestCase>> chosen = SelectWorkloads(selection);
      ASSERT_TRUE(chosen.ok()) << chosen.error().message();
      cases_.insert(cases_.end(), chosen->begin(), chosen->end());
    }
    for (const TestCase& test_case : cases_) {
      for (const Workload& workload : test_case.workloads) {
        if (!CanRun(workload)) continue;
        for (const EngineKind engine : {EngineKind::kLockfree, EngineKind::kClassic}) {
          tasks_.push_back({&test_case, &workload, engine});
        }
      }
    }
    ASSERT_GE(tasks_.size(), 10u);
  }

  Played Play(const Task& task) const {
    RunOptions options;
    options.engine = task.engine;
    options.costs = &costs_;
    options.gates = *Gates::Resolve(task.workload->gates);
    options.devices = task.workload->devices;
    options.seed = 5;
    Result<RunOutcome> outcome = RunWorkload(*task.test_case, *task.workload, options);
    EXPECT_TRUE(outcome.ok()) << task.Name() << ": " << outcome.error().message();
    if (!outcome.ok()) return {};
    EXPECT_EQ(outcome->outcome, WorkloadOutcome::kMeasured) << task.Name() << outcome->reason;
    return {outcome->metrics_text, outcome->repetition.counters, outcome->repetition.seconds};
  }

  std::vector<TestCase> cases_;
  std::vector<Task> tasks_;
  const CostModel costs_ = *LoadCostModel("upstream");
};

TEST_F(SideBySideStressTest, WorkloadsAtOnceDoWhatEachDoesAlone) {
  std::vector<Played> alone(tasks_.size());
  for (size_t i = 0; i < tasks_.size(); ++i) alone[i] = Play(tasks_[i]);
  constexpr size_t kTimes = 2;
  constexpr size_t kJobs = 4;
  DoSideBySide(kTimes * tasks_.size(), kJobs, [&](size_t number) {
    const size_t which = number / kTimes;  // The same workload twice at once, too.
    EXPECT_TRUE(Play(tasks_[which]) == alone[which]) << tasks_[which].Name();
  });
}

}  // namespace
}  // namespace schedq
