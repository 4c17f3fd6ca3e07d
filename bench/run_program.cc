#include "bench/run_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "bench/interrupt.h"
#include "perf/files/temporary_folder.h"

namespace schedq {
namespace {

constexpr int kCannotStart = 127;
constexpr int kSignalBase = 128;
constexpr std::chrono::milliseconds kPollInterval{5};

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Runs in the child. Both streams go to files, so that the child never blocks on a full pipe.
[[noreturn]] void ReplaceProcess(const std::vector<char*>& arguments, const std::string& folder,
                                 const std::string& out, const std::string& err) {
  const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool is_ready = out_file >= 0 && err_file >= 0 &&
                        (folder.empty() || chdir(folder.c_str()) == 0) &&
                        dup2(out_file, STDOUT_FILENO) >= 0 && dup2(err_file, STDERR_FILENO) >= 0;
  if (is_ready) execvp(arguments[0], arguments.data());
  _exit(kCannotStart);
}

// Polls, because an interrupt does not end a blocking wait (bench/interrupt.cc restarts it). The
// child ends by itself or by the interrupt.
int WaitFor(pid_t child) {
  int status = 0;
  bool was_told = false;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Interrupted() && !was_told) {
      kill(child, SIGINT);
      was_told = true;
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
}

std::string LastLineOf(const std::string& text) {
  const size_t end = text.find_last_not_of(" \n\r");
  if (end == std::string::npos) return "";
  const size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace

std::string ProgramEnd::LastLine() const {
  const std::string line = LastLineOf(err);
  return line.empty() ? LastLineOf(out) : line;
}

Result<ProgramEnd> RunProgram(const std::vector<std::string>& arguments,
                              const std::string& folder) {
  const Result<TemporaryFolder> streams = TemporaryFolder::Make();
  if (!streams) return streams.error();
  std::vector<std::string> texts = arguments;
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const std::string out = streams->File("out");
  const std::string err = streams->File("err");
  const pid_t child = fork();
  if (child < 0) return Error(arguments[0] + ": cannot be started: " + std::strerror(errno));
  if (child == 0) ReplaceProcess(pointers, folder, out, err);
  ProgramEnd end;
  end.exit_code = WaitFor(child);
  if (end.exit_code == kCannotStart) return Error(arguments[0] + ": cannot be started");
  end.out = ReadText(out);
  end.err = ReadText(err);
  return end;
}

}  // namespace schedq
