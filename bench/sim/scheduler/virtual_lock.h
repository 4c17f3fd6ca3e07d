// A mutex in virtual time: what holds it, holds it for a stated duration, and the others queue up.
//
// Purpose: threads that a simulation runs as timers wait for one another as real ones would.
// Threads: one, that which advances the clock.
// Invariants:
//  1. At most one critical section at any virtual instant, except that one ends where the next
//     begins.
//  2. First come, first served.
#pragma once

#include <deque>
#include <functional>

#include "engine/base/time/clock.h"

namespace schedq {

class VirtualLock {
 public:
  // Runs when the lock is held; returns for how long it is.
  using Critical = std::function<Duration()>;

  explicit VirtualLock(Clock* clock) : clock_(clock) {}

  // Runs `critical` as soon as the lock is free, maybe at once, and `then` when it was released.
  // Whoever waits gets the lock before `then` can ask for it again.
  void Run(Critical critical, std::function<void()> then);

 private:
  struct Waiter {
    Critical critical;
    std::function<void()> then;
  };

  void Hold(Waiter waiter);

  Clock* const clock_;
  bool is_held_ = false;
  std::deque<Waiter> waiters_;
};

}  // namespace schedq
