// Simulated time: a deterministic event loop in which ten minutes pass in milliseconds.
//
// Purpose: runs whose answer depends on nothing but their input. Time stands still until the caller
// advances it. Timers then run one by one in order of (instant, order of scheduling), with Now() at
// each timer's instant. A ticker counts as scheduled anew at each tick, before its action runs.
// When not to use it: to measure how fast anything is.
// Threads: Now, At, Every and Cancel from any thread, also from inside an action. One thread at a
// time advances the clock, and not from inside an action. A caller that schedules from several
// threads must make their order deterministic itself. What an action captures must not use the
// clock in its destructor.
// Invariants:
//  1. Now() never decreases.
//  2. A timer for a past instant runs at the next advance, at Now().
// Memory: that of the pending timers.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>

#include "engine/base/atom.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/base/time/timer_queue.h"

namespace schedq {

class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Instant start) : now_(start) {}

  Instant Now() const override { return LoadAcquire(now_); }
  TimerId At(Instant at, std::function<void()> action) override;
  TimerId Every(Instant first, Duration period, std::function<void()> action) override;
  // Called by another thread than the advancing one, it does not wait for an action that runs.
  bool Cancel(TimerId id) override;

  // Runs all timers due by `instant`; Now() is then `instant`.
  void AdvanceTo(Instant instant);
  void AdvanceBy(Duration duration) { AdvanceTo(Now() + duration); }
  // Runs the earliest timer. False: none is pending.
  bool RunNext() { return RunNextBy(Instant::max()); }
  // Runs timers until `done`, called before each, returns true. False: no timer is left, or the
  // next is due after `limit`.
  bool RunUntil(const std::function<bool()>& done, Instant limit = Instant::max());

  size_t pending() const;
  std::optional<Instant> NextTimer() const;

 private:
  bool RunNextBy(Instant limit);
  // Release pairs with the acquire in Now(): a thread that reads an instant sees what happened
  // before the clock was set to it.
  void SetNow(Instant instant) { StoreRelease(now_, instant); }

  // Written by the advancing thread; a stale reader sees an earlier instant.
  std::atomic<Instant> now_;
  mutable std::mutex mutex_;  // Guards timers_; never held while an action runs.
  mutable TimerQueue timers_;
  bool is_running_action_ = false;  // The advancing thread's.
};

}  // namespace schedq
