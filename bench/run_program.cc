#include "bench/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "bench/interrupt.h"

namespace schedq {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCannotStart = 127;
constexpr std::chrono::milliseconds kPollInterval{20};
// How long output is waited for that something which the program left behind may still write.
constexpr std::chrono::milliseconds kDrainMax{200};

// Both ends are closed on every way out.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    Close(0);
    Close(1);
  }

  bool ok() const { return ends_[0] >= 0; }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void CloseReader() { Close(0); }
  void CloseWriter() { Close(1); }

 private:
  void Close(size_t end) {
    if (ends_[end] >= 0) close(std::exchange(ends_[end], -1));
  }

  std::array<int, 2> ends_{-1, -1};
};

// The pipe of one stream, and the last bytes that came out of it.
struct Stream {
  Pipe pipe;
  std::string text;
  int failure = 0;  // An errno; what came after it is lost.

  // Reads what is there. Returns how much came.
  uint64_t Take() {
    std::array<char, 1 << 16> block;
    const ssize_t count = read(pipe.reader(), block.data(), block.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    if (count < 0) failure = errno;
    if (count <= 0) {
      pipe.CloseReader();
      return 0;
    }
    // Twice the size, so that not each block moves all that is kept.
    if (text.size() > 2 * kKeptOutputMax) text.erase(0, text.size() - kKeptOutputMax);
    text.append(block.data(), static_cast<size_t>(count));
    return static_cast<uint64_t>(count);
  }

  std::string Finish() {
    if (text.size() > kKeptOutputMax) text.erase(0, text.size() - kKeptOutputMax);
    return std::move(text);
  }
};

// Runs in the child. What goes wrong is told through `failure`, which a successful exec closes.
[[noreturn]] void ReplaceProcess(const std::vector<char*>& arguments, const std::string& folder,
                                 int out, int err, int failure, pid_t parent) {
  setpgid(0, 0);
  // This process is killed when its parent is, but not when the parent died before this call.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotStart);
  std::signal(SIGXFSZ, SIG_DFL);
  const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool is_ready = in >= 0 && (folder.empty() || chdir(folder.c_str()) == 0) &&
                        dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
                        dup2(err, STDERR_FILENO) >= 0;
  if (is_ready) execvp(arguments[0], arguments.data());
  const int reason = errno;
  const ssize_t told = write(failure, &reason, sizeof(reason));
  static_cast<void>(told);
  _exit(kCannotStart);
}

// A child from its start to its end.
class Child {
 public:
  Child(pid_t pid, Stream* out, Stream* err, const ProgramLimits& limits)
      : pid_(pid),
        out_(out),
        err_(err),
        limits_(limits),
        deadline_(Clock::now() + limits.time_max) {
    SetChildGroup(pid);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { SetChildGroup(0); }

  // Its exit code. A limit that it broke is stored in broken().
  int Wait() {
    while (!HasEnded()) {
      PassSignalOn();
      if (!was_killed_ && Clock::now() >= deadline_)
        Kill("ran for longer than its limit of " + SecondsText());
      if (!was_killed_ && bytes_ > limits_.output_bytes_max) {
        Kill("printed more than " + std::to_string(limits_.output_bytes_max >> 20) + " MiB");
      }
      TakeOutput(kPollInterval);
      const int failure = out_->failure != 0 ? out_->failure : err_->failure;
      if (failure != 0 && !was_killed_) {
        Kill(std::string("its output cannot be read: ") + std::strerror(failure));
      }
    }
    // What it started and left behind goes with it, and what they have written is read. The number
    // of the group is its own until it is waited for.
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    const auto drained = Clock::now() + kDrainMax;
    while (IsOpen() && Clock::now() < drained && bytes_ <= limits_.output_bytes_max) {
      TakeOutput(kPollInterval);
    }
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : kSignalBase + WTERMSIG(status_);
  }

  const std::optional<std::string>& broken() const { return broken_; }

 private:
  bool HasEnded() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == pid_;
  }
  bool IsOpen() const { return out_->pipe.reader() >= 0 || err_->pipe.reader() >= 0; }
  std::string SecondsText() const {
    return fmt::format("{:g} s", std::chrono::duration<double>(limits_.time_max).count());
  }

  void PassSignalOn() {
    if (!Interrupted() || was_killed_) return;
    if (!was_told_) {
      const int signal = InterruptSignal();
      kill(-pid_, signal == SIGPIPE ? SIGTERM : signal);
      was_told_ = true;
      deadline_ = std::min(deadline_, Clock::now() + kChildGrace);
    } else if (Clock::now() >= deadline_) {
      kill(-pid_, SIGKILL);
      was_killed_ = true;
    }
  }

  void Kill(const std::string& why) {
    broken_ = why;
    kill(-pid_, SIGKILL);
    was_killed_ = true;
  }

  void TakeOutput(std::chrono::milliseconds wait) {
    // A negative descriptor is left out.
    std::array<pollfd, 2> streams = {
        {{out_->pipe.reader(), POLLIN, 0}, {err_->pipe.reader(), POLLIN, 0}}};
    if (poll(streams.data(), streams.size(), static_cast<int>(wait.count())) <= 0) return;
    if (streams[0].revents != 0) bytes_ += out_->Take();
    if (streams[1].revents != 0) bytes_ += err_->Take();
  }

  const pid_t pid_;
  Stream* const out_;
  Stream* const err_;
  const ProgramLimits limits_;
  Clock::time_point deadline_;
  uint64_t bytes_ = 0;
  int status_ = 0;
  bool was_told_ = false;
  bool was_killed_ = false;
  std::optional<std::string> broken_;
};

// Why the program could not be started; 0: it was. Blocks until the child has become the program.
int StartFailure(int reader) {
  int reason = 0;
  ssize_t count = 0;
  do {
    count = read(reader, &reason, sizeof(reason));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return errno;
  return count == sizeof(reason) ? reason : 0;
}

std::string LastLineOf(const std::string& text) {
  const size_t end = text.find_last_not_of(" \n\r");
  if (end == std::string::npos) return "";
  const size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

Error CannotStart(const std::string& program, int reason) {
  return Error(program + ": cannot be started: " + std::strerror(reason));
}

}  // namespace

std::string ProgramEnd::LastLine() const {
  const std::string line = LastLineOf(err);
  return line.empty() ? LastLineOf(out) : line;
}

Result<ProgramEnd> RunProgram(const std::vector<std::string>& arguments, const std::string& folder,
                              const ProgramLimits& limits) {
  std::vector<std::string> texts = arguments;
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  Stream out;
  Stream err;
  Pipe failure;
  if (!out.pipe.ok() || !err.pipe.ok() || !failure.ok()) return CannotStart(arguments[0], errno);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return CannotStart(arguments[0], errno);
  if (pid == 0) {
    ReplaceProcess(pointers, folder, out.pipe.writer(), err.pipe.writer(), failure.writer(),
                   parent);
  }
  // Here as well, for a signal may be passed on before the child has come so far.
  setpgid(pid, pid);
  out.pipe.CloseWriter();
  err.pipe.CloseWriter();
  failure.CloseWriter();
  Child child(pid, &out, &err, limits);
  const int reason = StartFailure(failure.reader());
  // Where it cannot be told whether it runs, it must not.
  if (reason != 0) kill(-pid, SIGKILL);
  ProgramEnd end;
  end.exit_code = child.Wait();
  if (reason != 0) return CannotStart(arguments[0], reason);
  if (child.broken()) return Error(arguments[0] + ": " + *child.broken() + ", and was killed");
  end.out = out.Finish();
  end.err = err.Finish();
  return end;
}

}  // namespace schedq
