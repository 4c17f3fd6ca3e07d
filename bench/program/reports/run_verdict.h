// What a run comes to: its summary, and why it is no success.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/program/reports/run_report.h"
#include "perf/documents/run_document.h"
#include "perf/text/table.h"

namespace schedq {

// "30 measured, 0 skipped, 14 of 14 thresholds met"
std::string RunSummary(const RunDocument& document);

// A line for each workload that failed, threshold that was missed where thresholds count, and
// promise that does not hold; and one when nothing was measured. Empty: the run is a success.
std::vector<std::string> RunFailures(const RunDocument& document, bool judges_thresholds);

// What differs between the runs of one plan on several engines. On the virtual clock nothing may.
std::vector<std::string> EngineDifferences(const std::vector<RunReport>& reports);

// All that a terminal shows of the runs of one plan on one engine or several: the summary, the
// verdicts, the tables, and what their words mean.
std::string RunText(const std::vector<RunReport>& reports, const TableLayout& layout);

}  // namespace schedq
