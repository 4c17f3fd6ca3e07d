// One side of a gate: what was named on the command line, and the results that it gives.
//
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/program/gate/commit_build.h"
#include "engine/base/result.h"
#include "perf/compare/results.h"
#include "perf/documents/run_document.h"

namespace schedq {

struct Side {
  std::string folder;   // Of results; else
  std::string program;  // which makes them.
};

// A folder, a program or a commit, in this order. A commit is built first.
Result<Side> ResolveSide(const std::string& name, const BuildProgress& progress);

// The program that is running.
std::string OwnProgram();

// What both programs run: "schedq run" with these flags besides --out.
using RunFlags = std::vector<std::string>;

struct SideResults {
  Results results;
  // Not empty: the program ended with a bug (exit code 3 or a signal), and this is what it said.
  std::string crash;
};

// Reads the folder, or runs the program with its results in `out`. An error: nothing can be read,
// or the program does not take these flags.
Result<SideResults> ResultsOf(const Side& side, const RunFlags& flags, const std::string& out);

// The command that runs one workload of this side again, as `run` says that it ran.
std::string CommandOf(const Side& side, const RunDocument& run, const std::string& workload,
                      uint64_t seed);

}  // namespace schedq
