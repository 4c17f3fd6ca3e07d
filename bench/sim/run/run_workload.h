// Runs one workload once, on the virtual clock, and audits the cluster at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/measure/step_times.h"
#include "bench/sim/run/simulation.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "perf/documents/run_document.h"

namespace schedq {

struct RunOutcome {
  WorkloadOutcome outcome = WorkloadOutcome::kMeasured;
  std::string reason;  // The reason for an outcome other than kMeasured.
  Repetition repetition;
  uint64_t pods = 0;         // The pods that were scheduled in the measured sections.
  uint64_t pods_of_all = 0;  // That were bound while a measured section was open.
  Duration active{};         // In which they were: SectionActivity::length(), summed.
  // Repetition::counters.
  std::map<std::string, uint64_t> counters;
  StepTimes steps;           // On the real clock, of all measured sections.
  std::string metrics_text;  // All metrics at the end of the run, in Prometheus' text form.
};

// Returns an error, with file and line, for wrong input that only the run can detect.
Result<RunOutcome> RunWorkload(const TestCase& test_case, const Workload& workload,
                               const RunOptions& options);

}  // namespace schedq
