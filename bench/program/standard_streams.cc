#include "bench/program/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "perf/files/broken_pipe_held.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

// One of the two streams. Written by any thread that prints.
struct OutputStream {
  int descriptor = -1;
  std::atomic<int> failure{0};  // An errno; the first one stays.
};

OutputStream standard_output;
OutputStream standard_error;

// After a failure nothing more is written, so that what arrives has no gap.
ssize_t WriteAll(void* cookie, const char* text, size_t size) {
  auto& stream = *static_cast<OutputStream*>(cookie);
  // Who reads no messages may want the results.
  std::optional<BrokenPipeHeld> held;
  if (&stream == &standard_error) held.emplace();
  for (size_t done = 0; done < size && stream.failure.load() == 0;) {
    const ssize_t written = write(stream.descriptor, text + done, size - done);
    if (written >= 0) {
      done += static_cast<size_t>(written);
    } else if (errno == EAGAIN) {
      // Another program made the pipe or terminal not wait, for all that share it.
      pollfd waited{stream.descriptor, POLLOUT, 0};
      poll(&waited, 1, -1);
    } else if (errno != EINTR) {
      stream.failure.store(errno);
    }
  }
  return static_cast<ssize_t>(size);
}

// The descriptor can be read only, so that writes to it fail as those to a closed one do.
void FillClosed(int descriptor) {
  if (fcntl(descriptor, F_GETFD) >= 0) return;
  const int filled = open("/dev/null", O_RDONLY);
  if (filled >= 0 && filled != descriptor) {
    dup2(filled, descriptor);
    close(filled);
  }
}

FILE* Open(OutputStream* stream, int descriptor, int buffering) {
  stream->descriptor = descriptor;
  FILE* const opened = fopencookie(
      stream, "w", {.read = nullptr, .write = WriteAll, .seek = nullptr, .close = nullptr});
  if (opened != nullptr) std::setvbuf(opened, nullptr, buffering, BUFSIZ);
  return opened;
}

}  // namespace

void TakeOverStreams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) FillClosed(descriptor);
  FILE* const out =
      Open(&standard_output, STDOUT_FILENO, IsTerminal(STDOUT_FILENO) ? _IOLBF : _IOFBF);
  FILE* const err = Open(&standard_error, STDERR_FILENO, _IONBF);
  if (out != nullptr) stdout = out;
  if (err != nullptr) stderr = err;
}

int FinishStdout() {
  std::fflush(stdout);
  return standard_output.failure.load();
}

}  // namespace schedq
