// One clock, two kinds.
//
// Purpose: all code reads time and sets timers through Clock. RealClock is the machine's;
// VirtualClock is a deterministic event loop in which ten minutes pass in milliseconds.
// Threads: Now() from any thread. Timers of a RealClock run on its own thread; those of a
// VirtualClock run inside AdvanceTo/RunUntil on the thread that calls it, in order of (instant,
// order of scheduling), with Now() set to the timer's instant.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/base/time/time.h"

namespace schedq {

using TimerId = uint64_t;  // 0 is never a timer.

class Clock {
 public:
  virtual ~Clock() = default;

  virtual Instant Now() const = 0;

  // Runs `action` once, when Now() >= `at`.
  virtual TimerId At(Instant at, std::function<void()> action) = 0;
  // Runs `action` at `first` and then every `period` until cancelled. A late tick runs once, not
  // once per missed period.
  virtual TimerId Every(Instant first, Duration period, std::function<void()> action) = 0;
  // After it returns, the timer's action neither runs nor starts. False: unknown or already run.
  virtual bool Cancel(TimerId id) = 0;
};

}  // namespace schedq
