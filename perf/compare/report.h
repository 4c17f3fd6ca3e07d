// Words a comparison of counters for people (text, Markdown) and for continuous integration
// (JUnit).
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "perf/compare/counters.h"
#include "perf/compare/junit.h"
#include "perf/documents/run_document.h"

namespace schedq {

// A cell of a Markdown table.
std::string MarkdownCell(const std::string& text);

// The command that shows a workload's counters again.
using ReproduceCommand = std::function<std::string(const CounterChange& change)>;

// "schedq run FILE.yaml --gate X=false --name '^case/workload$' --seed 1 --engine lockfree --format
// json", quoted for a shell: what runs one workload of these results again, in the same folder.
std::string RunAgainCommand(const RunDocument& run, const std::string& workload, uint64_t seed);

// The sum and notes; then every failure with metric, before and after, at most `rows_a_workload` of
// a workload, each workload followed by the command that reproduces it.
std::string CountersText(const CounterComparison& comparison, const ReproduceCommand& command,
                         size_t rows_a_workload, bool colour);
std::string CountersMarkdown(const CounterComparison& comparison, const ReproduceCommand& command);

// One case for each workload that was compared, with the seconds that it took.
JunitSuite CountersJunit(const CounterComparison& comparison, const ReproduceCommand& command,
                         const std::map<std::string, double>& seconds);

}  // namespace schedq
