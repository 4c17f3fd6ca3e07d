// Waiting API calls on folly::HHWheelTimer: one lock, the wheel, and a map of calls. The interface
// is that of bench/lab/paths/call_contestants.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include "bench/lab/micro/rivals/folly_timers.h"
#include "bench/lab/paths/call_contestants.h"
#include "dispatcher/api_call.h"

namespace schedq {

class LockedFollyWheelCalls;

struct FollyWheelCall final : folly::HHWheelTimer::Callback {
  void timeoutExpired() noexcept override;

  LockedFollyWheelCalls* owner = nullptr;
  ApiCall call;
};

class LockedFollyWheelCalls : public LockedCalls<LockedFollyWheelCalls, FollyWheelCall> {
 public:
  static constexpr const char* kName = "mutex+folly::HHWheelTimer";
  static constexpr bool kCancelScans = false;

  // The destructor of a waiting call needs the wheel, which is destroyed before the map.
  ~LockedFollyWheelCalls() { calls_.clear(); }

  // The machine's clock cannot be moved, so the waiting calls are cancelled instead of becoming
  // due; each passes through the same callback.
  int64_t Drain() {
    const std::lock_guard lock(mutex_);
    started_ = 0;
    wheel_->cancelAll();
    return started_;
  }

 private:
  friend LockedCalls<LockedFollyWheelCalls, FollyWheelCall>;
  friend FollyWheelCall;

  void Enqueue(Calls::iterator entry, const ApiCall& call) {
    entry->second.owner = this;
    wheel_->scheduleTimeout(&entry->second,
                            std::chrono::duration_cast<std::chrono::milliseconds>(call.delay));
  }
  // The callback's destructor takes the call out of the wheel.
  void Erase(Calls::iterator entry) { calls_.erase(entry); }

  int64_t started_ = 0;
  FollyWheel wheel_;
};

inline void FollyWheelCall::timeoutExpired() noexcept {
  ++owner->started_;
  owner->calls_.erase(call.object);
}

}  // namespace schedq
