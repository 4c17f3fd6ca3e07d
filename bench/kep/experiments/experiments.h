// Experiments: workloads that are run in several ways, to judge a proposal's choice.
//
// Purpose: `schedq run --suite kep`. The workloads are those of bench/suites/kep. This file has the
// ways in which each is run, the figures that are read from the results, the verdicts, and the
// choice of scenarios that are played beside.
// When not to use it: to compare two builds of schedq; perf/compare does that.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/kep/scenario/scenario.h"
#include "bench/sim/calls/call_settings.h"
#include "bench/sim/queue/rejected_alternatives.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "perf/documents/run_document.h"
#include "perf/documents/scenario_document.h"
#include "perf/text/table.h"

namespace schedq {

// One way to run a workload.
struct Arm {
  std::string name;
  std::optional<Gate> gate;
  bool gate_on = true;
  RejectedAlternatives alternatives;
  CallSettings calls = {};
};

// The arms of the experiment on calls: the orders, and what was proposed for upstream's.
inline constexpr const char* kArrivalArm = "by-arrival";
inline constexpr const char* kRelevanceArm = "by-relevance";
inline constexpr const char* kLimitArm = "call-limit";
inline constexpr const char* kOwnClientArm = "own-client";
inline constexpr const char* kReentryArm = "reentry-gate";

// The ways to run the case of this name. Empty: the case is no part of an experiment.
const std::vector<Arm>& ArmsOf(const std::string& test_case);

// The name of a workload in an arm: "400Pods/gate-off" for "400Pods".
std::string ArmedName(const std::string& workload, const Arm& arm);

// The figures of a run of an experiment's workload, for its arm.
struct ArmFigures {
  double pods_per_second = 0;
  double judged_per_event = 0;         // Hints for claims' events, divided by these events.
  uint64_t scheduled = 0;              // Number of pods.
  uint64_t scheduled_after_flush = 0;  // Number of pods whose wake-up was missed.
  uint64_t attempts = 0;
  double idle_seconds = 0;  // Idle time while pods were in backoff.
  uint64_t inversions = 0;
  double longest_wait_seconds = 0;  // The longest wait in active or backoff.
  double bound_p99_seconds = 0;     // From a pod's creation to its node.
  uint64_t patches = 0;             // Of pods' status, that were sent.
};

// The means over the repetitions, and the longest of their waits.
ArmFigures ReadFigures(const WorkloadResult& result);

// One verdict for each experiment with all arms measured, by its largest workload.
std::vector<PromiseVerdict> JudgeExperiments(const RunDocument& document);

// Chooses scenarios as workloads are chosen. `name` is a regular expression (Pattern), which is
// searched in a name such as "KEP-5501/outage". Each scenario has the label short or performance.
Result<std::vector<Scenario>> SelectScenarios(const std::string& name, const std::string& labels);

// The gates that scenarios set themselves.
inline constexpr Gate kScenarioGates[] = {Gate::kSchedulerPreEnqueuePodStatus,
                                          Gate::kSchedulerAsyncAPICalls,
                                          Gate::kNominatedNodeNameForExpectation};

// A row for each arm that was measured.
std::string ExperimentTable(const RunDocument& document, const TableLayout& layout);

}  // namespace schedq
