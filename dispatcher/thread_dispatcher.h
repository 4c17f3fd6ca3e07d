// A call queue with a thread that drives it: calls go to a sink when they are due and allowed.
//
// Purpose: the dispatcher of programs with real threads and a real clock. When not to use it: in
// simulated runs, where ClockDispatcher is driven by the clock itself.
//
// Threads: queue() from any; adding wakes the thread only if it would sleep too long, and waits for
// nobody. The sink is started by the dispatcher's thread and answers from any. Close and the
// destructor from one thread, which must be neither the sink's nor in a listener.
// Invariants:
//  1. The thread sleeps at most until the next call is due. Whoever wants it earlier raises
//     `wakes` and then looks until when it sleeps; it says until when and then sleeps only if
//     `wakes` is what it was before it last looked at the queue. All four are sequentially
//     consistent, so one of the two sees the other.
//  2. When Close returns, every call has ended once, and no answer of the sink touches the queue.
// Memory: the queue's, and a reference to a shared word for each call in flight.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "dispatcher/api_sink.h"
#include "dispatcher/call_queue.h"

namespace schedq {

class ThreadDispatcher final : public CallWaker {
 public:
  // `options` without a waker. Clock and sink outlive it.
  ThreadDispatcher(CallQueueOptions options, ApiSink* sink);
  ~ThreadDispatcher() override;
  ThreadDispatcher(const ThreadDispatcher&) = delete;
  ThreadDispatcher& operator=(const ThreadDispatcher&) = delete;

  CallQueue<>& queue() { return queue_; }

  // What waits is skipped, and so is what is added from now on; waits for what is in flight.
  void Close();

  void WakeBy(Instant at) override;

 private:
  static constexpr int64_t kAwake = INT64_MIN;

  void Run();
  std::optional<Instant> Dispatch();
  void SleepUntil(Instant at, uint32_t seen);

  Clock& clock_;
  ApiSink& sink_;
  // Raised by whoever wants the thread to look again.
  std::atomic<uint32_t> wakes_{0};
  // An instant in nanoseconds. Written by the thread; kAwake while it is awake. Stale for a waker
  // only before the thread's last look at `wakes`.
  std::atomic<int64_t> sleeps_until_{kAwake};
  // Calls whose answer has not left the queue. Raised by the thread, lowered by answers, which may
  // outlive the dispatcher by this step.
  const std::shared_ptr<std::atomic<uint32_t>> under_way_ =
      std::make_shared<std::atomic<uint32_t>>(0);
  // Set once by Close; read by the thread after each wake-up.
  std::atomic<bool> is_closing_{false};
  CallQueue<> queue_;
  std::thread thread_;
};

}  // namespace schedq
