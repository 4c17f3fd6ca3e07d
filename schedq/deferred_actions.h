// Actions that must not run where they are asked for, on a clock's thread instead.
//
// Purpose: a listener of calls may be told inside an operation of the scheduling queue; what it
// wants of that queue runs here, a moment later.
// When not to use it: on a hot path; it takes a mutex.
// Threads: Run from any, also from inside an action; Stop and the destructor from any thread but
// the clock's.
// Invariant: after Stop has returned no action runs. Memory: one timer for each action that waits.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "engine/base/time/clock.h"

namespace schedq {

class DeferredActions {
 public:
  // The clock outlives it.
  explicit DeferredActions(Clock* clock) : clock_(*clock) {}
  ~DeferredActions() { Stop(); }
  DeferredActions(const DeferredActions&) = delete;
  DeferredActions& operator=(const DeferredActions&) = delete;

  // Dropped after Stop.
  void Run(std::function<void()> action);
  // Drops what waits, and waits for an action that runs.
  void Stop();

 private:
  Clock& clock_;
  std::mutex mutex_;  // Guards what is below.
  bool is_stopped_ = false;
  uint64_t last_number_ = 0;
  std::unordered_map<uint64_t, TimerId> waiting_;  // By the action's number.
};

}  // namespace schedq
