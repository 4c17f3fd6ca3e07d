#include "tests/support/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "engine/base/result.h"

namespace schedq {
namespace {

// stderr goes to a file, so that the child never blocks on a full pipe.
int MakeTemporaryFile(std::string& path) {
  const char* folder = std::getenv("TMPDIR");
  path = std::string(folder != nullptr ? folder : "/tmp") + "/schedq-test-XXXXXX";
  return mkstemp(path.data());
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  std::vector<std::string> texts = arguments;
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);

  int out_pipe[2];
  SCHEDQ_CHECK(pipe2(out_pipe, O_CLOEXEC) == 0, "no pipe for the child's stdout");
  const int err_file = MakeTemporaryFile(err_path_);
  SCHEDQ_CHECK(err_file >= 0, "no file for the child's stderr");
  pid_ = fork();
  SCHEDQ_CHECK(pid_ >= 0, "fork failed");
  if (pid_ == 0) {
    dup2(out_pipe[1], STDOUT_FILENO);
    dup2(err_file, STDERR_FILENO);
    // A shell that starts the tests with & has them ignore it.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  close(out_pipe[1]);
  close(err_file);
  out_ = out_pipe[0];
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    Wait();
  }
}

bool ChildProcess::WaitForOutput(const std::string& text) {
  while (out_text_.find(text) == std::string::npos) {
    char block[4096];
    const ssize_t count = read(out_, block, sizeof(block));
    if (count <= 0) return false;
    out_text_.append(block, static_cast<size_t>(count));
  }
  return true;
}

void ChildProcess::Signal(int signal) const { kill(pid_, signal); }

ChildProcess::Ended ChildProcess::Wait() {
  char block[4096];
  ssize_t count = 0;
  while ((count = read(out_, block, sizeof(block))) > 0) {
    out_text_.append(block, static_cast<size_t>(count));
  }
  close(out_);
  int status = 0;
  SCHEDQ_CHECK(waitpid(pid_, &status, 0) == pid_, "the child cannot be waited for");
  pid_ = -1;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  Ended ended = {code, out_text_, ReadAll(err_path_)};
  unlink(err_path_.c_str());
  return ended;
}

ChildProcess::Ended RunProgram(const std::vector<std::string>& arguments) {
  return ChildProcess(arguments).Wait();
}

}  // namespace schedq
