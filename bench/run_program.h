// Runs another program, waits for its end and keeps its output.
//
// The program and what it starts are one process group. The signal that interrupts this process is
// passed on to the group; what has not ended kChildGrace later is killed, and so is what is left of
// the group when the program has ended.
// Threads: the main thread only, one program at a time.
// Invariants:
//  1. When RunProgram returns, no process of the group is left, and no zombie.
//  2. The program reads nothing: its stdin is empty.
// Memory: kKeptOutputMax of each stream.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

// What is kept of a stream: its last bytes.
inline constexpr size_t kKeptOutputMax = size_t{4} << 20;
// From the signal that is passed on to the end by force.
inline constexpr std::chrono::milliseconds kChildGrace{1000};

struct ProgramLimits {
  std::chrono::milliseconds time_max = std::chrono::hours(2);
  uint64_t output_bytes_max = uint64_t{64} << 20;  // Of both streams together.
};

struct ProgramEnd {
  int exit_code = 0;  // 128 + the signal's number when a signal ended it.
  std::string out;
  std::string err;

  // The last line of stderr that is not empty, else that of stdout.
  std::string LastLine() const;
};

// `arguments[0]` is a path, or a name that is searched in PATH. `folder` is the program's working
// directory; empty: the current one. Returns an error where the program could not be started, or
// was killed at a limit.
Result<ProgramEnd> RunProgram(const std::vector<std::string>& arguments,
                              const std::string& folder = "", const ProgramLimits& limits = {});

}  // namespace schedq
