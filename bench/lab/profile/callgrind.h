// Counts the instructions of one measured path by callgrind, in a process of its own.
//
// Purpose: a cost that does not depend on the machine's load. `schedq` runs itself under valgrind
// with --run-once. Counting is on only during the path's Run.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/lab/paths/measured_path.h"
#include "engine/base/result.h"
#include "perf/documents/profile_document.h"

namespace schedq {

struct InstructionCount {
  uint64_t instructions = 0;
  HotSpots spots;  // The caller sets `size`.
};

// Reads callgrind's output file. `name` stands in the error.
Result<InstructionCount> ParseCallgrind(std::string_view text, const std::string& name);

// Runs `program` (the first element is its path) under callgrind, and stores its stdout in
// `output`. Returns an error of one line where valgrind is missing or failed.
Result<InstructionCount> CountInstructions(const std::vector<std::string>& program,
                                           std::string* output);

// Runs the path with counting on. The process that valgrind runs calls it.
void RunCounted(MeasuredPath& path);

}  // namespace schedq
