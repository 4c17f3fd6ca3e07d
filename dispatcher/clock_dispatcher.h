// A call queue that a clock drives: calls go to a sink when they are due and allowed.
//
// Purpose: the dispatcher of simulated runs, and of programs of one thread.
// When not to use it: from several threads; ThreadDispatcher is for those.
// Threads: one, on which the clock's actions run.
// Memory: the queue's.
#pragma once

#include "dispatcher/api_sink.h"
#include "dispatcher/call_queue.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"

namespace schedq {

class ClockDispatcher final : public CallWaker {
 public:
  // `options` without a waker. Clock and sink outlive it.
  ClockDispatcher(const CallQueueOptions& options, ApiSink* sink);
  ~ClockDispatcher() override;
  ClockDispatcher(const ClockDispatcher&) = delete;
  ClockDispatcher& operator=(const ClockDispatcher&) = delete;

  CallQueue<>& queue() { return queue_; }

  void WakeBy(Instant at) override;

 private:
  void Dispatch();

  Clock& clock_;
  ApiSink& sink_;
  Instant wake_ = Instant::max();  // When the timer goes off.
  TimerId timer_ = 0;
  bool is_ending_ = false;  // The queue may still be told of answers, and must not set the timer.
  CallQueue<> queue_;
};

}  // namespace schedq
