#include "bench/interrupt.h"

#include <atomic>
#include <csignal>

namespace schedq {
namespace {

// Written by the signal handler only; a stale read delays the stop by one poll.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

extern "C" void RaiseInterrupted(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = RaiseInterrupted;
  // RESETHAND gives the second signal its default effect. RESTART keeps output
  // whole.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// Relaxed suffices, because the flag guards no other data.
bool Interrupted() { return interrupted.load(std::memory_order_relaxed); }

}  // namespace schedq
