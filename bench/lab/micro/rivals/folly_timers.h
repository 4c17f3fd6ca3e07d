// folly::HHWheelTimer without an event loop.
//
// Purpose: a rival. The wheel asks for one timeout at a time; nobody waits for it here, it fires
// when the benchmark says so. The wheel reads the machine's clock itself, at each operation.
// Threads: one at a time.
#pragma once

#include <folly/io/async/HHWheelTimer.h>
#include <folly/io/async/TimeoutManager.h>

#include <chrono>

namespace schedq {

class ManualTimeouts final : public folly::TimeoutManager {
 public:
  // As if the timeout that was asked for had come.
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

// A wheel of milliseconds.
class FollyWheel {
 public:
  folly::HHWheelTimer& operator*() { return *wheel_; }
  folly::HHWheelTimer* operator->() { return wheel_.get(); }
  // All that is due comes due.
  void Expire() { timeouts_.Fire(); }

 private:
  ManualTimeouts timeouts_;
  folly::HHWheelTimer::UniquePtr wheel_ =
      folly::HHWheelTimer::newTimer(&timeouts_, std::chrono::milliseconds(1));
};

}  // namespace schedq
