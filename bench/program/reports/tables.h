// The tables that `schedq floor` and `schedq bench` print.
// Threads: pure functions.
#pragma once

#include <string>

#include "perf/documents/bench_document.h"
#include "perf/documents/environment.h"
#include "perf/documents/floor_document.h"

namespace schedq {

// One line on where the figures come from: processor, cores, kernel, commit, build, allocator.
std::string MachineLine(const Environment& environment);

std::string FloorTable(const FloorDocument& document, bool colour);

// Median, spread, ratio to the best rival (below 1 is faster than every rival) and the published
// figure beside, one row a contender, fastest first.
std::string BenchTable(const BenchCase& one, bool colour);

}  // namespace schedq
