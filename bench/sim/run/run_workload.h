// Runs one workload once, on the virtual clock, and checks the cluster that it leaves behind.
#pragma once

#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/run/simulation.h"
#include "perf/documents/run_document.h"

namespace schedq {

struct RunOutcome {
  WorkloadOutcome outcome = WorkloadOutcome::kMeasured;
  std::string reason;  // When it is not kMeasured.
  Repetition repetition;
  uint64_t pods = 0;         // Scheduled in the measured sections.
  std::string metrics_text;  // At the end of the run, as Prometheus reads it.
};

// An error: the input is wrong in a way that only showed while it ran; file and line are in it.
Result<RunOutcome> RunWorkload(const TestCase& test_case, const Workload& workload,
                               const RunOptions& options);

}  // namespace schedq
