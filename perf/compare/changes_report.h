// Words the changes of measured metrics for people and for continuous integration.
// Threads: pure functions.
#pragma once

#include <map>
#include <string>

#include "perf/compare/changes.h"
#include "perf/compare/junit.h"
#include "perf/compare/results.h"
#include "perf/statistics/comparison.h"
#include "perf/text/table.h"

namespace schedq {

// How long each workload took, in seconds, by "case/workload".
using WorkloadSeconds = std::map<std::string, double>;
WorkloadSeconds SecondsOfWorkloads(const Results& results);

// What was compared and how; one row a workload, which is one a tested metric; with `all` a row for
// every other metric as well. Below stand the metrics that only one side has.
std::string ChangesTable(const Changes& changes, bool all, const TableLayout& layout);
std::string ChangesMarkdown(const Changes& changes, bool all);

// One case for each tested metric. A metric that is worse or lost fails; one of which the samples
// cannot tell is skipped, or fails where nothing may be left open (`is_strict`).
JunitSuite ChangesJunit(const Changes& changes, const WorkloadSeconds& seconds, bool is_strict);

// "6 runs needed", "more than 1,000 runs needed"; empty where there is a verdict.
std::string RunsNeededText(const Comparison& comparison);

}  // namespace schedq
