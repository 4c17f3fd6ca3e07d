// The machine's time, with a thread of its own that runs timers.
//
// Purpose: runs on real threads. Now() is the system's time at construction plus what the monotonic
// clock has measured since, so that a change of the system's time moves no backoff.
// When not to use it: where two runs must give the same result; VirtualClock is for those.
// Threads: all operations from any thread, also from inside an action. Now() is wait-free; the
// others lock. Actions run one at a time on the clock's thread: a long action delays the others.
// Cancel waits for an action that is running, unless the action itself calls it. The destructor
// drops pending timers and waits for an action that is running.
// Invariant: an action never runs before its instant. Memory: that of the pending timers.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/base/time/timer_queue.h"

namespace schedq {

class RealClock final : public Clock {
 public:
  RealClock();
  ~RealClock() override;
  RealClock(const RealClock&) = delete;
  RealClock& operator=(const RealClock&) = delete;

  Instant Now() const override;
  TimerId At(Instant at, std::function<void()> action) override;
  TimerId Every(Instant first, Duration period, std::function<void()> action) override;
  bool Cancel(TimerId id) override;

 private:
  TimerId Add(Instant at, Duration period, std::function<void()> action);
  void RunTimers();
  void RunOne(std::unique_lock<std::mutex>& lock, Instant now);
  MonotonicTime ToMonotonic(Instant instant) const;

  const Instant start_;
  const MonotonicTime monotonic_start_;

  std::mutex mutex_;                 // Guards all below; never held while an action runs.
  std::condition_variable changed_;  // A timer was added or the clock is closing.
  std::condition_variable action_finished_;
  TimerQueue timers_;
  TimerId running_ = 0;
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace schedq
