// Runs a program as a user would, and keeps its output.
// When not to use it: for tests that a library's interface allows; a process takes milliseconds to
// start.
// Threads: one thread an object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace schedq {

class ChildProcess {
 public:
  // Starts the program `arguments[0]` with the other arguments. Neither stdout nor stderr is a
  // terminal.
  explicit ChildProcess(const std::vector<std::string>& arguments);
  // Kills a child that still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Reads stdout until it contains `text`. Returns false if the output ended before.
  bool WaitForOutput(const std::string& text);
  void Signal(int signal) const;

  struct Ended {
    int exit_code = 0;  // 128 + the signal's number when a signal ended it.
    std::string out;
    std::string err;
  };
  // Reads both streams to their ends and waits for the child.
  Ended Wait();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  std::string err_path_;
  std::string out_text_;
};

// Starts a program and waits for its end.
ChildProcess::Ended RunProgram(const std::vector<std::string>& arguments);

}  // namespace schedq
