// Experiments: workloads that are run in several ways, to judge what a proposal chose.
//
// Purpose: `schedq run --suite kep`. The workloads are those of bench/suites/kep; here are the
// ways in which each is run, what is read from the results, and the verdicts; and which scenarios
// are played beside.
// When not to use it: two builds of schedq are compared by perf/compare.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/kep/scenario/scenario.h"
#include "bench/sim/queue/rejected_alternatives.h"
#include "engine/gates.h"
#include "perf/documents/run_document.h"
#include "perf/text/table.h"

namespace schedq {

// One way to run a workload.
struct Arm {
  std::string name;
  Gate gate{};
  bool gate_on = true;
  RejectedAlternatives alternatives;
};

// The ways to run a case, by its name. Empty: it is not part of an experiment.
const std::vector<Arm>& ArmsOf(const std::string& test_case);

// "400Pods", run as the arm says: "400Pods/gate-off".
std::string ArmedName(const std::string& workload, const Arm& arm);

// What a run of an experiment's workload says about its arm.
struct ArmFigures {
  double pods_per_second = 0;
  double judged_per_event = 0;         // Hints asked for claims' events, over these events.
  uint64_t scheduled = 0;              // Pods.
  uint64_t scheduled_after_flush = 0;  // Whose wake-up was missed.
  uint64_t attempts = 0;
  double idle_seconds = 0;  // With pods in backoff.
  uint64_t inversions = 0;
  double longest_wait_seconds = 0;  // In active or backoff.
};

// The mean over the repetitions that there are; of waits the longest.
ArmFigures ReadFigures(const WorkloadResult& result);

// One for each experiment all of whose arms were measured, by its largest workload.
std::vector<PromiseVerdict> JudgeExperiments(const RunDocument& document);

// Scenarios are chosen as workloads are: "KEP-5501/outage" is searched for `name`, a regular
// expression that is valid, and each has the label short or performance.
std::vector<Scenario> SelectScenarios(const std::string& name, const std::string& labels);
// They decide on these gates.
inline constexpr Gate kScenarioGates[] = {Gate::kSchedulerPreEnqueuePodStatus,
                                          Gate::kSchedulerAsyncAPICalls,
                                          Gate::kNominatedNodeNameForExpectation};

// A row for each arm that was measured.
std::string ExperimentTable(const RunDocument& document, const TableLayout& layout);

}  // namespace schedq
