// Counts the instructions of one measured path by callgrind, in a process of its own.
//
// Purpose: a cost that does not depend on the machine's load. `schedq` runs itself under valgrind
// with --run-once. Counting is on only during the path's Run.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/lab/paths/measured_path.h"
#include "engine/base/result.h"
#include "perf/documents/profile_document.h"

namespace schedq {

struct InstructionCount {
  uint64_t instructions = 0;
  std::map<std::string, uint64_t> by_function;  // What each function executes itself.
  HotSpots spots;                               // The caller sets `size`.
};

// Reads callgrind's output file. `name` stands in the error.
Result<InstructionCount> ParseCallgrind(std::string_view text, const std::string& name);

// Runs `program` (the first element is its path) under callgrind, and stores its stdout in
// `output`. Returns an error of one line where valgrind is missing or failed.
//
// Counts of two builds can be compared, because nothing but the program's own work is left: it has
// one processor, so that no pool of threads shares the work; an environment of fixed words, so that
// its stack begins at the same place; and an allocator that does not look at the clock. Addresses
// are valgrind's, the same in each run. Paths of equal length keep the stacks equal.
Result<InstructionCount> CountInstructionsSteadily(const std::vector<std::string>& program,
                                                   std::string* output);

// The same with the environment and the processors of this process.
Result<InstructionCount> CountInstructions(const std::vector<std::string>& program,
                                           std::string* output);

// Runs the path with counting on. The process that valgrind runs calls it.
void RunCounted(MeasuredPath& path);

}  // namespace schedq
