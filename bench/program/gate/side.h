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

// A folder, a program or a commit, in this order. A commit is built first, with this preset.
Result<Side> ResolveSide(const std::string& name, const std::string& preset,
                         const BuildProgress& progress);

// The preset with which this program was built, so that a commit can be built as it was: the name
// of its folder in build/, else that of its type.
std::string OwnPreset();

// The commit that a side was built from, as its program or its results say it; empty: they do not.
std::string CommitOf(const Side& side);

// The program that is running.
std::string OwnProgram();

// What both programs run: "schedq run" with these.
struct RunFlags {
  std::vector<std::string> inputs;  // Files, --suite, --gate and the like.
  std::string name;                 // Regular expression; empty: all workloads.
  std::string labels;
  uint64_t seed = 1;
  std::string engine;

  std::vector<std::string> All() const;
  // Of one workload, with this seed.
  std::vector<std::string> OfOne(const std::string& workload, uint64_t seed_of_it) const;
};

struct SideResults {
  Results results;
  // Not empty: the program ended with a bug (exit code 3 or a signal), and this is what it said.
  std::string crash;
};

// Reads the folder, or runs the program with its results in `out`. An error: nothing can be read,
// or the program does not take these flags.
Result<SideResults> ResultsOf(const Side& side, const RunFlags& flags, const std::string& out);

// The command that runs one workload of this side again. `flags` are those with which its program
// was run; a folder says itself how its results were made.
std::string CommandOf(const Side& side, const RunDocument& run, const RunFlags& flags,
                      const std::string& workload, uint64_t seed);

}  // namespace schedq
