// Two programs that measure the same work at the same time, one on each of two processors.
//
// Purpose: what disturbs a shared machine disturbs both sides alike, so that the ratio of a pair
// says more than two figures taken one after the other.
// Rules:
//  1. A round runs base and new at the same time, each on one processor. The next round changes
//     the processors, and two such rounds are a pair: its ratio is the geometric mean of both, so
//     that a slower processor takes the same from both sides.
//  2. One after the other (is_sequential), each has all processors; which begins changes by turns.
//  3. Round i has the seed of the flags + i, the same for both sides.
// Source: Bulej et al., "Duet Benchmarking" (2020).
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/program/gate/commit_build.h"
#include "bench/program/gate/side.h"
#include "engine/base/result.h"
#include "perf/compare/results.h"

namespace schedq {

struct DuetOptions {
  uint64_t pairs = 10;
  bool is_sequential = false;
  RunFlags flags;                      // Of `schedq run --clock real`; the name is not read.
  std::vector<std::string> workloads;  // "case/workload", played one by one.
  std::string bench;                   // Of `schedq bench REGEX`; empty: none.
};

struct DuetResults {
  Results base;  // A value a pair.
  Results next;
  bool is_sequential = false;
  std::string crash;  // Not empty: what the new program could not do, which fails.
};

// The results of rounds in order, two of which are a pair. What a round lacks is left out.
Results PairsOfRounds(const std::vector<Results>& rounds);

// An error: the base cannot do it, or nothing was measured.
Result<DuetResults> PlayDuet(const std::string& base, const std::string& next,
                             const DuetOptions& options, const BuildProgress& progress);

}  // namespace schedq
