// A queue between threads whose reader sleeps while it is empty.
//
// Threads: Push from any thread, and lock-free but for the wake-up of a reader that sleeps. Pop
// from any thread; blocks. Close once.
// Invariant: values of one pusher come out in the order in which they went in. After Close, what is
// left comes out, and then Pop ends.
// Memory: the values that wait; unbounded.
#pragma once

#include <tbb/concurrent_queue.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "engine/base/time/time.h"
#include "engine/lockfree/event_count.h"

namespace schedq {

template <typename Value>
class Channel {
 public:
  void Push(Value value) {
    values_.push(std::move(value));
    sleepers_.NotifyOne();
  }

  bool TryPop(Value* value) { return values_.try_pop(*value); }

  // False: nothing came until the deadline, or the channel is closed and empty.
  // A reader lets others run before it sleeps: where threads are more than processors, the next
  // value is often a moment away, and its pusher is spared a system call.
  bool Pop(Value* value, std::optional<MonotonicTime> deadline = std::nullopt) {
    for (;;) {
      for (int i = 0; i < kYields; ++i) {
        if (TryPop(value)) return true;
        std::this_thread::yield();
      }
      const auto ticket = sleepers_.PrepareWait();
      if (TryPop(value)) {
        sleepers_.CancelWait();
        return true;
      }
      if (is_closed_.load()) {
        sleepers_.CancelWait();
        return TryPop(value);
      }
      if (!sleepers_.CommitWait(ticket, deadline)) return TryPop(value);
    }
  }

  // Wakes all who wait in Pop.
  void Close() {
    is_closed_.store(true);
    sleepers_.NotifyAll();
  }

 private:
  static constexpr int kYields = 4;

  tbb::concurrent_queue<Value> values_;
  EventCount<> sleepers_;
  // Set once. Sequentially consistent, as the event count's words: a reader that does not see it
  // before it sleeps is woken by Close.
  std::atomic<bool> is_closed_{false};
};

}  // namespace schedq
