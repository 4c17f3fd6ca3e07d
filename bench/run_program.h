// Runs another program and waits for its end; what it says is kept, not shown.
//
// Ctrl-C ends it: the first one is passed on and the program is waited for.
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

  // The last line that is not empty of what it said on stderr, else on stdout.
  std::string LastLine() const;
};

// `arguments[0]` is a path, or a name that is looked for in PATH. `folder` is where it runs; empty:
// here. An error: it could not be started.
Result<ProgramEnd> RunProgram(const std::vector<std::string>& arguments,
                              const std::string& folder = "");

}  // namespace schedq
