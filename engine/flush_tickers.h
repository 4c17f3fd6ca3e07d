// The two tickers by which time drives a queue: FlushBackoff and FlushUnschedulable.
//
// Purpose: when they tick is stated once, for both engines and for a simulation that writes each
// tick down.
// Threads: Start, Stop and the destructor from any thread, but not from inside a tick. A tick runs
// on the clock's thread. Stop takes a mutex that no operation on pods takes, and waits for a tick
// that runs.
// Invariant: after Stop has returned no tick runs, and Start does nothing any more.
// Memory: two timers of the clock.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "engine/base/time/clock.h"

namespace schedq {

struct FlushActions {
  std::function<void()> flush_backoff;
  std::function<void()> flush_unschedulable;
};

class FlushTickers {
 public:
  // The clock outlives it.
  explicit FlushTickers(Clock* clock) : clock_(*clock) {}
  ~FlushTickers() { Stop(); }
  FlushTickers(const FlushTickers&) = delete;
  FlushTickers& operator=(const FlushTickers&) = delete;

  // With `windows` (gate SchedulerPopFromBackoffQ) the backoff queue is flushed at each whole
  // second of absolute time, at which a window ends; else at each second from now on. Does nothing
  // where the tickers run already.
  void Start(bool windows, FlushActions actions);
  void Stop();

 private:
  Clock& clock_;
  std::mutex mutex_;  // Guards what is below.
  bool is_stopped_ = false;
  std::vector<TimerId> timers_;
};

}  // namespace schedq
