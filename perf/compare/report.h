// What a comparison says to people and to continuous integration.
// Threads: pure functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "perf/compare/changes.h"
#include "perf/compare/counters.h"
#include "perf/text/table.h"

namespace schedq {

// How many metrics are worse, better and as they were; one row a metric that changed, or every one
// with `all`; and what only one side has.
std::string ChangesTable(const Changes& changes, bool all, const TableLayout& layout);
std::string ChangesMarkdown(const Changes& changes, bool all);

// The command that shows a workload's counters again.
using ReproduceCommand = std::function<std::string(const CounterChange& change)>;

// The sum and notes; then every failure with metric, before and after, at most `rows_a_workload` of
// a workload, each workload followed by the command that reproduces it.
std::string CountersText(const CounterComparison& comparison, const ReproduceCommand& command,
                         size_t rows_a_workload, bool colour);
std::string CountersMarkdown(const CounterComparison& comparison, const ReproduceCommand& command);
// One test case a workload that failed, and one for all that passed.
std::string CountersJunit(const CounterComparison& comparison, const ReproduceCommand& command);

// One test case a metric that is worse, and one for all others.
std::string ChangesJunit(const Changes& changes);

// A JUnit report: the cases that failed, and one that stands for the `passed` others.
struct JunitFailure {
  std::string name;
  std::string message;
  std::string details;
};
std::string JunitText(const std::vector<JunitFailure>& failures, uint64_t passed,
                      const std::string& tier);

}  // namespace schedq
