// Simulated time: a deterministic event loop in which ten minutes pass in milliseconds.
//
// Purpose: runs whose answer depends on nothing but their input. Time stands still until somebody
// advances it, and then timers run one by one in order of (instant, order of scheduling), with
// Now() at each timer's instant. A ticker counts as scheduled anew at each tick, before its action
// runs. When not to use it: to measure how fast anything is. Threads: Now, At, Every and Cancel
// from any thread, also from inside an action. Advancing from one thread at a time and not from
// inside an action. Determinism is the caller's as far as he schedules from several threads.
// Invariants: Now() never goes back. A timer for a past instant runs at the next advance, at Now().
// What an action captures must not use the clock in its destructor.
// Memory: that of the pending timers.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "engine/base/atom.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/timer_queue.h"

namespace schedq {

class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Instant start) : now_(start) {}

  Instant Now() const override { return LoadAcquire(now_); }
  TimerId At(Instant at, std::function<void()> action) override;
  TimerId Every(Instant first, Duration period, std::function<void()> action) override;
  // Called from another thread than the advancing one, it does not wait for an action that runs.
  bool Cancel(TimerId id) override;

  // Runs all timers due by `instant`, then stands there.
  void AdvanceTo(Instant instant);
  void AdvanceBy(Duration duration) { AdvanceTo(Now() + duration); }
  // Runs the earliest timer. False: none is pending.
  bool RunNext() { return RunNextBy(Instant::max()); }
  // Runs timers until `done`, asked before each, says true. False: no timer is left, or the next is
  // due after `limit`.
  bool RunUntil(const std::function<bool()>& done, Instant limit = Instant::max());

  size_t pending() const;
  std::optional<Instant> NextTimer() const;

 private:
  bool RunNextBy(Instant limit);
  // Release pairs with Now(): who sees an instant sees what happened before time got there.
  void SetNow(Instant instant) { StoreRelease(now_, instant); }

  // Written by the advancing thread; a stale reader sees an earlier instant.
  std::atomic<Instant> now_;
  mutable std::mutex mutex_;  // Guards timers_; never held while an action runs.
  mutable TimerQueue timers_;
  bool is_running_action_ = false;  // The advancing thread's.
};

}  // namespace schedq
