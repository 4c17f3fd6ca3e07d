// Keeps a pipe without a reader from ending the process.
//
// Purpose: for as long as it lives, a write of this thread to such a pipe is an error (EPIPE) and
// raises no SIGPIPE.
// When not to use it: for stdout, whose reader's going away ends the program (bench/interrupt.h).
// Threads: one an object.
#pragma once

#include <csignal>
#include <ctime>

namespace schedq {

class BrokenPipeHeld {
 public:
  BrokenPipeHeld() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  BrokenPipeHeld(const BrokenPipeHeld&) = delete;
  BrokenPipeHeld& operator=(const BrokenPipeHeld&) = delete;
  // The signal of such a write is this thread's and waits, blocked; it is taken here.
  ~BrokenPipeHeld() {
    const timespec at_once{};
    while (sigtimedwait(&pipe_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

}  // namespace schedq
