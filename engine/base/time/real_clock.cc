#include "engine/base/time/real_clock.h"

#include <chrono>
#include <optional>
#include <utility>

#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {

RealClock::RealClock()
    : start_(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now())),
      monotonic_start_(std::chrono::steady_clock::now()),
      thread_([this] { RunTimers(); }) {}

RealClock::~RealClock() {
  {
    std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Instant RealClock::Now() const {
  return start_ + (std::chrono::steady_clock::now() - monotonic_start_);
}

MonotonicTime RealClock::ToMonotonic(Instant instant) const {
  return monotonic_start_ + (instant - start_);
}

TimerId RealClock::At(Instant at, std::function<void()> action) {
  return Add(at, Duration(0), std::move(action));
}

TimerId RealClock::Every(Instant first, Duration period, std::function<void()> action) {
  SCHEDQ_CHECK(period.count() > 0, "a ticker's period is above zero");
  return Add(first, period, std::move(action));
}

TimerId RealClock::Add(Instant at, Duration period, std::function<void()> action) {
  TimerId id;
  {
    std::lock_guard lock(mutex_);
    id = timers_.Add(at, period, std::move(action));
  }
  changed_.notify_all();
  return id;
}

bool RealClock::Cancel(TimerId id) {
  std::unique_lock lock(mutex_);
  const bool cancelled = timers_.Cancel(id);
  if (std::this_thread::get_id() != thread_.get_id()) {
    action_finished_.wait(lock, [&] { return running_ != id; });
  }
  return cancelled;
}

void RealClock::RunTimers() {
  std::unique_lock lock(mutex_);
  while (!is_closing_) {
    const std::optional<Instant> next = timers_.NextInstant();
    if (!next) {
      changed_.wait(lock);
    } else if (const Instant now = Now(); now < *next) {
      changed_.wait_until(lock, ToMonotonic(*next));
    } else {
      RunOne(lock, now);
    }
  }
}

void RealClock::RunOne(std::unique_lock<std::mutex>& lock, Instant now) {
  TimerQueue::Due due = timers_.TakeNext(now);
  running_ = due.id;
  lock.unlock();
  due.action();
  lock.lock();
  running_ = 0;
  timers_.GiveBack(std::move(due));
  action_finished_.notify_all();
}

}  // namespace schedq
