// The tables of a run on the real clock.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/program/reports/run_report.h"
#include "perf/text/table.h"

namespace schedq {

// Medians over the repetitions, with their spread: one row a workload and engine; then where the
// processor time of a pod goes. `reports` has one for each engine, with equal workloads.
std::string RealTables(const std::vector<RunReport>& reports, const TableLayout& layout);

}  // namespace schedq
