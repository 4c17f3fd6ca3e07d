// Waiting API calls on folly::HHWheelTimer: one lock, the wheel, and a map of calls. The face is
// that of bench/lab/paths/call_contestants.h.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "bench/lab/micro/rivals/folly_timers.h"
#include "dispatcher/api_call.h"

namespace schedq {

class LockedFollyWheelCalls {
 public:
  static constexpr const char* kName = "mutex+folly::HHWheelTimer";
  static constexpr bool kCancelScans = false;

  void Reserve(int64_t objects) { calls_.reserve(static_cast<size_t>(objects)); }
  void Prefetch(ObjectId) const {}
  void Add(ApiCall&& call) {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = calls_.try_emplace(call.object);
    Waiting& waiting = entry->second;
    if (is_new) {
      waiting.owner = this;
      wheel_->scheduleTimeout(&waiting,
                              std::chrono::duration_cast<std::chrono::milliseconds>(call.delay));
    } else {
      Merge(waiting.call, &call);
    }
    waiting.call = std::move(call);
    if (IsNoOp(waiting.call)) calls_.erase(entry);
  }
  // A callback that goes takes itself out of the wheel.
  void Cancel(ObjectId object) {
    const std::lock_guard lock(mutex_);
    calls_.erase(object);
  }
  void Sync(ObjectId object, const PodRef& pod) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(object);
    if (found == calls_.end()) return;
    found->second.call.pod = pod;
    if (IsNoOp(found->second.call)) calls_.erase(found);
  }
  // The machine's clock cannot be moved, so all that waits is called off instead of coming due; it
  // passes through the same callback.
  int64_t Drain() {
    const std::lock_guard lock(mutex_);
    started_ = 0;
    wheel_->cancelAll();
    return started_;
  }

 private:
  struct Waiting final : folly::HHWheelTimer::Callback {
    void timeoutExpired() noexcept override {
      ++owner->started_;
      owner->calls_.erase(call.object);
    }

    LockedFollyWheelCalls* owner = nullptr;
    ApiCall call;
  };

  std::mutex mutex_;
  int64_t started_ = 0;
  FollyWheel wheel_;
  std::unordered_map<ObjectId, Waiting> calls_;  // Goes before the wheel.
};

}  // namespace schedq
