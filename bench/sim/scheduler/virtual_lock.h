// A mutex in virtual time: a critical section holds it for a stated duration, while others wait.
//
// Purpose: threads that a simulation runs as timers wait for one another as real threads would.
// Threads: one, the one that advances the clock.
// Invariants:
//  1. At most one critical section holds the lock at any virtual instant; one may begin at the
//     instant at which another ends.
//  2. Critical sections run in the order of their calls.
#pragma once

#include <deque>
#include <functional>

#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"

namespace schedq {

class VirtualLock {
 public:
  // Runs while the lock is held. Returns how long it is held.
  using Critical = std::function<Duration()>;

  explicit VirtualLock(Clock* clock) : clock_(clock) {}

  // Runs `critical` as soon as the lock is free, which may be at once, and `then` after the
  // release. A waiting section gets the lock before `then` can ask for it again.
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
