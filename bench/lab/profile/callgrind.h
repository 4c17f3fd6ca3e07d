// Instructions of one measured path, counted by callgrind in a process of its own.
//
// Purpose: a cost that does not depend on the machine's mood. `schedq` runs itself under valgrind
// with --run-once; only the path's Run is counted, because that is where counting is turned on.
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
  HotSpots spots;  // `size` is left to the caller.
};

// Reads what callgrind writes. `name` stands in the error.
Result<InstructionCount> ParseCallgrind(std::string_view text, const std::string& name);

// Runs `program` (the first is its path) under callgrind. What it prints is left in `output`. An
// error says in one line that valgrind is missing, or how it ended.
Result<InstructionCount> CountInstructions(const std::vector<std::string>& program,
                                           std::string* output);

// Runs the path; under callgrind, counts it. To be called in the process that valgrind runs.
void RunCounted(MeasuredPath& path);

}  // namespace schedq
