// What two sets of results were measured with, where it differs.
//
// Purpose: a figure that changed means something else where gates, costs or the machine changed as
// well. Where the work itself is another one, nothing is compared.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "perf/compare/results.h"

namespace schedq {

// One line each: "gate SchedulerPopFromBackoffQ: true before, false after". An error, which is one
// line: the two are of other work. Seeds or clocks differ, or a workload's files do.
Result<std::vector<std::string>> DifferencesOf(const Results& base, const Results& next);

}  // namespace schedq
