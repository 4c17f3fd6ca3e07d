#include "engine/base/time/virtual_clock.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {

TimerId VirtualClock::At(Instant at, std::function<void()> action) {
  std::lock_guard lock(mutex_);
  return timers_.Add(at, Duration(0), std::move(action));
}

TimerId VirtualClock::Every(Instant first, Duration period, std::function<void()> action) {
  SCHEDQ_CHECK(period.count() > 0, "a ticker's period is above zero");
  std::lock_guard lock(mutex_);
  return timers_.Add(first, period, std::move(action));
}

bool VirtualClock::Cancel(TimerId id) {
  std::lock_guard lock(mutex_);
  return timers_.Cancel(id);
}

void VirtualClock::AdvanceTo(Instant instant) {
  SCHEDQ_CHECK(instant >= Now(), "time does not go back");
  while (RunNextBy(instant)) {
  }
  SetNow(instant);
}

bool VirtualClock::RunUntil(const std::function<bool()>& done, Instant limit) {
  while (!done()) {
    if (!RunNextBy(limit)) return false;
  }
  return true;
}

bool VirtualClock::RunNextBy(Instant limit) {
  SCHEDQ_CHECK(!is_running_action_, "an action must not advance the clock that runs it");
  std::optional<TimerQueue::Due> due;
  {
    std::lock_guard lock(mutex_);
    const std::optional<Instant> next = timers_.NextInstant();
    if (!next || *next > limit) return false;
    const Instant at = std::max(*next, Now());
    due = timers_.TakeNext(at);
    SetNow(at);
  }
  is_running_action_ = true;
  due->action();
  is_running_action_ = false;
  std::lock_guard lock(mutex_);
  timers_.GiveBack(*std::move(due));
  return true;
}

size_t VirtualClock::pending() const {
  std::lock_guard lock(mutex_);
  return timers_.size();
}

std::optional<Instant> VirtualClock::NextTimer() const {
  std::lock_guard lock(mutex_);
  return timers_.NextInstant();
}

}  // namespace schedq
