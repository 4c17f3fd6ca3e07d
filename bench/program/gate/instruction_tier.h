// The instruction tier of a gate: what paths of the product and workloads on the virtual clock
// execute, counted by callgrind, base and new.
//
// Rules:
//  1. Both programs are of one kind of build. Another compiler or other flags change the counts of
//     everything, so that is an error.
//  2. A path is a series of `schedq profile` at kPathSize; a workload is a run of one repetition,
//     of which only the measured sections count.
//  3. What only one side has is named and not compared. What the base cannot run is no base.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/program/gate/commit_build.h"
#include "bench/program/gate/gate_report.h"
#include "bench/program/gate/side.h"
#include "engine/base/result.h"
#include "perf/text/table.h"

namespace schedq {

inline constexpr uint64_t kPathSize = 200;

struct InstructionTierOptions {
  double threshold = 0.005;
  RunFlags flags;                    // Of the workloads; `engine` is not read.
  bool has_files = false;            // The flags name files: only their workloads count.
  std::vector<std::string> engines;  // Names.
  TableLayout layout;
};

// Both sides are programs.
Status JudgeInstructions(const Side& base, const Side& next, const InstructionTierOptions& options,
                         const BuildProgress& progress, GateReport* report);

}  // namespace schedq
