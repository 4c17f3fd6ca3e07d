// How a run compares with measured runs of the real scheduler: what `schedq run --reference` shows.
// Threads: pure functions.
#pragma once

#include <string>

#include "perf/documents/run_document.h"
#include "perf/text/table.h"

namespace schedq {

// A row a workload: how many of its counters are how near, the farthest one, and its throughput.
// Below it all workloads together, and what was not compared. Empty without a reference.
std::string ReferenceTable(const RunDocument& document, const TableLayout& layout);

}  // namespace schedq
