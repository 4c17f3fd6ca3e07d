// Lines that Go's benchstat reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "perf/documents/data_items.h"
#include "perf/documents/environment.h"

namespace schedq {

// "goos: ...", "goarch: ...", "pkg: ..." and "cpu: ...", which benchstat shows above its tables.
std::string BenchstatHeader(const Machine& machine);

// "BenchmarkPerfScheduling/<case>/<workload>-<procs> 1 <value> <Metric>/<bucket> ..." and a line
// break. One repetition gives one line; benchstat pairs lines of one name. Spaces in names become
// underscores, because benchstat splits at them. A metric whose unit differs from the one in its
// name (..._seconds in ms) gets the unit added to the name.
std::string BenchstatLine(const std::string& test_case, const std::string& workload, uint64_t procs,
                          std::span<const DataItem> items);

}  // namespace schedq
