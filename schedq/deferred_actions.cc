#include "schedq/deferred_actions.h"

#include <utility>

namespace schedq {

void DeferredActions::Run(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return;
  const uint64_t number = ++last_number_;
  // The timer may go off at once on the clock's thread, which then waits for this mutex.
  waiting_[number] = clock_.At(clock_.Now(), [this, number, action = std::move(action)] {
    {
      const std::lock_guard action_lock(mutex_);
      if (is_stopped_) return;
    }
    action();
    // Only now, so that Stop finds an action that runs and waits for it.
    const std::lock_guard action_lock(mutex_);
    waiting_.erase(number);
  });
}

void DeferredActions::Stop() {
  std::unordered_map<uint64_t, TimerId> waiting;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    waiting.swap(waiting_);
  }
  // Outside the mutex: Cancel waits for an action that runs.
  for (const auto& [number, timer] : waiting) clock_.Cancel(timer);
}

}  // namespace schedq
