// Words a comparison for people (text, Markdown) and for continuous integration (JUnit).
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "perf/compare/changes.h"
#include "perf/compare/counters.h"
#include "perf/text/table.h"

namespace schedq {

// One row a metric that changed, or a row for every metric with `all`. Below the rows stand the
// number of unchanged metrics and the metrics that only one side has.
std::string ChangesTable(const Changes& changes, bool all, const TableLayout& layout);
std::string ChangesMarkdown(const Changes& changes, bool all);

// The command that shows a workload's counters again.
using ReproduceCommand = std::function<std::string(const CounterChange& change)>;

// "schedq run --name '^case/workload$' --seed 1", quoted for a shell.
std::string RunAgainCommand(const std::string& program, const std::string& workload, uint64_t seed);

// The sum and notes; then every failure with metric, before and after, at most `rows_a_workload` of
// a workload, each workload followed by the command that reproduces it.
std::string CountersText(const CounterComparison& comparison, const ReproduceCommand& command,
                         size_t rows_a_workload, bool colour);
std::string CountersMarkdown(const CounterComparison& comparison, const ReproduceCommand& command);
struct JunitFailure {
  std::string name;
  std::string message;
  std::string details;
};
// The cases of one tier: one a failure, and one that stands for the `passed` others.
struct JunitSuite {
  std::string name;
  std::vector<JunitFailure> failures;
  uint64_t passed = 0;
};
// One case for each workload that failed, and one for all that passed.
JunitSuite CountersJunit(const CounterComparison& comparison, const ReproduceCommand& command);
// One case for each metric that is worse or absent, and one for all others.
JunitSuite ChangesJunit(const Changes& changes);

// A JUnit report.
std::string JunitText(const std::vector<JunitSuite>& suites);

}  // namespace schedq
