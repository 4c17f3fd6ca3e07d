// folly::HHWheelTimer without an event loop.
//
// Purpose: a rival in benchmarks. The wheel asks its TimeoutManager for one timeout at a time; this
// one fires when the benchmark says so. The wheel itself reads the machine's clock in each
// operation.
// Threads: one at a time.
#pragma once

#include <folly/io/async/HHWheelTimer.h>
#include <folly/io/async/TimeoutManager.h>

#include <chrono>

namespace schedq {

class ManualTimeouts final : public folly::TimeoutManager {
 public:
  // Fires the timeout that the wheel asked for.
  void Fire();

  void attachTimeoutManager(folly::AsyncTimeout* timeout, InternalEnum) override;
  void detachTimeoutManager(folly::AsyncTimeout*) override {}
  bool scheduleTimeout(folly::AsyncTimeout* timeout, timeout_type) override;
  void cancelTimeout(folly::AsyncTimeout* timeout) override;
  void bumpHandlingTime() override {}
  bool isInTimeoutManagerThread() override { return true; }

 private:
  folly::AsyncTimeout* timeout_ = nullptr;
};

// A wheel with ticks of a millisecond.
class FollyWheel {
 public:
  folly::HHWheelTimer& operator*() { return *wheel_; }
  folly::HHWheelTimer* operator->() { return wheel_.get(); }
  // Expires all due timers.
  void Expire() { timeouts_.Fire(); }

 private:
  ManualTimeouts timeouts_;
  folly::HHWheelTimer::UniquePtr wheel_ =
      folly::HHWheelTimer::newTimer(&timeouts_, std::chrono::milliseconds(1));
};

}  // namespace schedq
