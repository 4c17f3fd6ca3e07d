#include "engine/flush_tickers.h"

#include <utility>

#include "engine/backoff.h"
#include "engine/base/time/time.h"

namespace schedq {

void FlushTickers::Start(bool windows, FlushActions actions) {
  const Instant now = clock_.Now();
  const Instant first = windows ? NextWholeSecond(now) : now + kSecond;
  const std::lock_guard lock(mutex_);
  if (is_stopped_ || !timers_.empty()) return;
  timers_.push_back(clock_.Every(first, kSecond, std::move(actions.flush_backoff)));
  timers_.push_back(clock_.Every(now + kFlushUnschedulablePeriod, kFlushUnschedulablePeriod,
                                 std::move(actions.flush_unschedulable)));
}

void FlushTickers::Stop() {
  std::vector<TimerId> timers;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    timers.swap(timers_);
  }
  // Outside the mutex: Cancel waits for a tick that runs.
  for (const TimerId timer : timers) clock_.Cancel(timer);
}

}  // namespace schedq
