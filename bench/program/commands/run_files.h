// Where `schedq run` writes what it measured.
//
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "bench/program/reports/run_report.h"
#include "engine/base/result.h"

namespace schedq {

// Writes results below `out` (a folder an engine when there are several) and the trace to `record`;
// either may be empty. What is partial does not replace what is there, but goes beside it. Writes
// all that can be written and returns the first error.
Status WriteRun(const std::string& out, const std::string& record,
                const std::vector<RunReport>& reports, bool is_partial);

// Writes the cost model that follows from what the report's workload took. An empty name: nothing.
Status WriteCosts(const std::string& path, const RunReport& report, bool is_partial);

}  // namespace schedq
