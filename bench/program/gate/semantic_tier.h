// The semantic tier of a gate: counters of virtual runs, exactly, and where the two runs part.
// Threads: the main thread only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/program/gate/gate_report.h"
#include "bench/program/gate/side.h"
#include "engine/base/result.h"
#include "perf/compare/counters.h"
#include "perf/compare/results.h"

namespace schedq {

struct SemanticTierOptions {
  std::vector<Allowance> allowances;
  // Of this many workloads that fail, both sides are played once more and recorded, where both are
  // programs.
  size_t recorded_max = 1;
  std::string folder;  // For the recordings.
  bool colour = false;
};

// One side: what was named, what it measured, and the flags with which it was run; none for a
// folder.
struct SemanticSide {
  const Side* side = nullptr;
  const Results* results = nullptr;
  RunFlags flags;
};

// An error: the two cannot be compared, which is never a pass.
Status JudgeSemantic(const SemanticSide& base, const SemanticSide& next,
                     const SemanticTierOptions& options, GateReport* report);

}  // namespace schedq
