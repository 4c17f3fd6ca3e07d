// The tables that `schedq floor` and `schedq bench` print.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "perf/documents/bench_document.h"
#include "perf/documents/environment.h"
#include "perf/documents/floor_document.h"
#include "perf/text/table.h"

namespace schedq {

// Two lines on where the figures come from: processor, cores, kernel, commit, build, allocator.
std::string MachineLine(const Environment& environment);

std::string FloorTable(const FloorDocument& document, const TableLayout& layout);

// Median, spread, ratio to the best rival (below 1 is faster than every rival) and the published
// figure beside, one row a contender, fastest first.
std::string BenchTable(const BenchCase& one, const TableLayout& layout);

// "34 groups measured, 310 contenders, 0 wrong answers"
std::string BenchSummary(const BenchDocument& document, size_t faults, size_t width);

}  // namespace schedq
