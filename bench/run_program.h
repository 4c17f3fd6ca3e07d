// Runs another program, waits for its end and keeps its output.
//
// Ctrl-C ends the program too: this process passes the first one on, then waits for the end.
// Threads: the main thread only.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

struct ProgramEnd {
  int exit_code = 0;  // 128 + the signal's number when a signal ended it.
  std::string out;
  std::string err;

  // The last line of stderr that is not empty, else that of stdout.
  std::string LastLine() const;
};

// `arguments[0]` is a path, or a name that is searched in PATH. `folder` is the program's working
// directory; empty: the current one. Returns an error where the program could not be started.
Result<ProgramEnd> RunProgram(const std::vector<std::string>& arguments,
                              const std::string& folder = "");

}  // namespace schedq
