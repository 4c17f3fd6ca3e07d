// Contestants for timers, with one interface: the product's wheel, and an ordered map and folly's
// wheel behind a mutex.
//
//   void Reserve(timers)            called once, before the first timer
//   void Schedule(timer, delay_ms)  schedules a timer, or overwrites its delay
//   void Cancel(timer)
//   void FileInbox()                files the timers that Schedule only put into an inbox
//   void PassDelays(delay_ms)       lets every delay up to this one pass
//   int64_t Advance()               expires the due timers; returns their number
//   int64_t ExpireAll()             expires all timers that are left; returns their number
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/lab/micro/rivals/folly_timers.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "dispatcher/timer_wheel/timer_wheel.h"
#include "perf/documents/bench_document.h"

namespace schedq {

class ProductWheel {
 public:
  static constexpr const char* kName = "schedq::TimerWheel";
  static constexpr ContenderRole kRole = ContenderRole::kProduct;

  void Reserve(uint32_t timers) { wheel_.ReserveThrough(timers - 1); }
  void Schedule(uint32_t timer, uint32_t delay_ms) { wheel_.Schedule(timer, now_ + delay_ms); }
  void Cancel(uint32_t timer) { wheel_.Cancel(timer); }
  void FileInbox() {
    wheel_.ExpireUntil(now_, [](uint32_t) {});
  }
  void PassDelays(uint32_t delay_ms) { now_ += delay_ms; }
  int64_t Advance() {
    int64_t expired = 0;
    wheel_.ExpireUntil(now_, [&](uint32_t) { ++expired; });
    return expired;
  }
  int64_t ExpireAll() {
    PassDelays(1 << 20);
    return Advance();
  }

 private:
  TimerWheel<> wheel_;
  Tick now_ = 1;
};

class LockedMultimapWheel {
 public:
  static constexpr const char* kName = "mutex+std::multimap";
  static constexpr ContenderRole kRole = ContenderRole::kRival;

  void Reserve(uint32_t timers) { places_.assign(timers, deadlines_.end()); }
  void Schedule(uint32_t timer, uint32_t delay_ms) {
    const std::lock_guard lock(mutex_);
    if (places_[timer] != deadlines_.end()) deadlines_.erase(places_[timer]);
    places_[timer] = deadlines_.emplace(now_ + delay_ms, timer);
  }
  void Cancel(uint32_t timer) {
    const std::lock_guard lock(mutex_);
    if (places_[timer] == deadlines_.end()) return;
    deadlines_.erase(places_[timer]);
    places_[timer] = deadlines_.end();
  }
  void FileInbox() {}
  void PassDelays(uint32_t delay_ms) { now_ += delay_ms; }
  int64_t Advance() {
    const std::lock_guard lock(mutex_);
    int64_t expired = 0;
    for (; !deadlines_.empty() && deadlines_.begin()->first <= now_; ++expired) {
      places_[deadlines_.begin()->second] = deadlines_.end();
      deadlines_.erase(deadlines_.begin());
    }
    return expired;
  }
  int64_t ExpireAll() {
    PassDelays(1 << 20);
    return Advance();
  }

 private:
  std::mutex mutex_;
  std::multimap<uint64_t, uint32_t> deadlines_;
  std::vector<std::multimap<uint64_t, uint32_t>::iterator> places_;
  uint64_t now_ = 1;
};

// The wheel reads the machine's clock, so PassDelays sleeps.
class LockedFollyWheel {
 public:
  static constexpr const char* kName = "mutex+folly::HHWheelTimer";
  static constexpr ContenderRole kRole = ContenderRole::kRival;

  void Reserve(uint32_t timers) {
    timers_ = std::vector<Timer>(timers);
    for (Timer& timer : timers_) timer.expired = &expired_;
  }
  void Schedule(uint32_t timer, uint32_t delay_ms) {
    const std::lock_guard lock(mutex_);
    wheel_->scheduleTimeout(&timers_[timer], std::chrono::milliseconds(delay_ms));
  }
  void Cancel(uint32_t timer) {
    const std::lock_guard lock(mutex_);
    timers_[timer].cancelTimeout();
  }
  void FileInbox() {}
  void PassDelays(uint32_t delay_ms) {
    // Its first tick is not whole, so the sleep is longer.
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms + 2));
  }
  int64_t Advance() {
    const std::lock_guard lock(mutex_);
    expired_ = 0;
    wheel_.Expire();
    return expired_;
  }
  int64_t ExpireAll() {
    expired_ = 0;
    wheel_->cancelAll();
    return expired_;
  }

 private:
  struct Timer final : folly::HHWheelTimer::Callback {
    void timeoutExpired() noexcept override { ++*expired; }

    int64_t* expired = nullptr;
  };

  std::mutex mutex_;
  int64_t expired_ = 0;
  FollyWheel wheel_;
  std::vector<Timer> timers_;  // Declared after the wheel, so that timers are destroyed first.
};

}  // namespace schedq
