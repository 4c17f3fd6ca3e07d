// Runs a program as a user would, and keeps what it said.
// When not to use it: for what a library's interface shows; starting a process costs milliseconds.
// Threads: one thread an object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace schedq {

class ChildProcess {
 public:
  // Starts `arguments[0]` with the rest; neither stdout nor stderr is a terminal.
  explicit ChildProcess(const std::vector<std::string>& arguments);
  // A child that still runs is killed.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Reads stdout until `text` has appeared in it. False if the output ended first.
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

// Start and wait in one.
ChildProcess::Ended RunProgram(const std::vector<std::string>& arguments);

}  // namespace schedq
