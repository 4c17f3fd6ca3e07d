#include "bench/sim/scheduler/virtual_lock.h"

#include <utility>

namespace schedq {

void VirtualLock::Run(Critical critical, std::function<void()> then) {
  Waiter waiter{std::move(critical), std::move(then)};
  if (is_held_) {
    waiters_.push_back(std::move(waiter));
  } else {
    Hold(std::move(waiter));
  }
}

void VirtualLock::Hold(Waiter waiter) {
  is_held_ = true;
  const Duration held = waiter.critical();
  clock_->At(clock_->Now() + held, [this, then = std::move(waiter.then)] {
    is_held_ = false;
    if (!waiters_.empty()) {
      Waiter next = std::move(waiters_.front());
      waiters_.pop_front();
      Hold(std::move(next));
    }
    then();
  });
}

}  // namespace schedq
