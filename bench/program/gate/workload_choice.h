// The workloads that a gate's flags choose, by name.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/program/gate/side.h"
#include "engine/base/result.h"

namespace schedq {

// Whether the flags name files, workloads or labels.
bool ChoosesWorkloads(const RunFlags& flags);

// "case/workload" of each that can run, in the order of the files.
Result<std::vector<std::string>> WorkloadsOf(const RunFlags& flags);

}  // namespace schedq
