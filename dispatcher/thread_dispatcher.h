// A call queue with a thread that drives it: calls go to a sink when they are due and allowed.
//
// Purpose: the dispatcher of programs with real threads and a real clock.
// When not to use it: in simulated runs, where ClockDispatcher is driven by the clock itself.
//
// Threads: queue() from any thread. An addition wakes the dispatcher's thread only if that would
// sleep too long, and waits for no other thread. The dispatcher's thread starts the sink's calls;
// the sink answers from any thread. Close and the destructor from one thread, which must be neither
// the sink's nor in a listener.
// Invariants:
//  1. The thread sleeps at most until the next call is due. A waker raises `wakes_` and then reads
//     `sleeps_until_`. The thread writes `sleeps_until_` and then sleeps only if `wakes_` is what
//     it was before its last look at the queue. All four are sequentially consistent, so at least
//     one of the two sees what the other wrote.
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
#include "engine/base/time/time.h"

namespace schedq {

class ThreadDispatcher final : public CallWaker {
 public:
  // `options` without a waker. Clock and sink outlive it.
  ThreadDispatcher(const CallQueueOptions& options, ApiSink* sink);
  ~ThreadDispatcher() override;
  ThreadDispatcher(const ThreadDispatcher&) = delete;
  ThreadDispatcher& operator=(const ThreadDispatcher&) = delete;

  CallQueue<>& queue() { return queue_; }

  // Skips what waits and what is added from now on, and waits until no call is in flight and each
  // that waited has ended.
  void Close();

  void WakeBy(Instant at) override;

 private:
  static constexpr int64_t kAwake = INT64_MIN;

  void Run();
  std::optional<Instant> Dispatch();
  void SleepUntil(Instant at, uint32_t seen);

  Clock& clock_;
  ApiSink& sink_;
  // Raised by each thread that wants the dispatcher's thread to look at the queue again.
  std::atomic<uint32_t> wakes_{0};
  // An instant in nanoseconds. Written by the thread; kAwake while it is awake. A waker reads a
  // stale value only before the thread's last look at `wakes_`.
  std::atomic<int64_t> sleeps_until_{kAwake};
  // Calls whose answer may still use the queue. Raised by the thread and lowered by each answer as
  // its last step, which may come after the dispatcher's end.
  const std::shared_ptr<std::atomic<uint32_t>> under_way_ =
      std::make_shared<std::atomic<uint32_t>>(0);
  // Set once by Close; read by the thread after each wake-up.
  std::atomic<bool> is_closing_{false};
  CallQueue<> queue_;
  std::thread thread_;
};

}  // namespace schedq
