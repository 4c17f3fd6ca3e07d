// A call queue on a virtual clock; the test plays the server.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "tests/support/call_scene.h"

namespace schedq {

class CallQueueFixture : public testing::Test, public CallWaker {
 protected:
  void WakeBy(Instant at) override { wake_ = std::min(wake_, at); }

  void Make(CallQueueOptions options) {
    queue_.reset();
    options.clock = &clock_;
    options.waker = this;
    options.metrics = &metrics_;
    queue_ = std::make_unique<CallQueue<>>(options);
  }
  void SetUp() override { Make({.calls_per_second = 0}); }

  CallSpec Spec(ObjectId object, uint64_t tag, Duration delay = {}) {
    return {object, tag, delay, UnmarkedPod(), &recorder_};
  }
  // Advances the clock and dispatches. Returns the tags of the calls that started.
  std::vector<uint64_t> DispatchAfter(Duration duration) {
    clock_.AdvanceBy(duration);
    std::vector<uint64_t> started;
    next_ = *queue_->Dispatch(clock_.Now(), [&](const ApiCall& call) {
      started.push_back(call.tag);
      sent_[call.object] = call;
    });
    return started;
  }
  std::vector<uint64_t> Dispatch() { return DispatchAfter(Duration(0)); }

  VirtualClock clock_{Instant(std::chrono::seconds(1000))};
  MetricsRegistry metrics_;
  EndRecorder recorder_;
  Instant wake_ = Instant::max();
  Instant next_ = Instant::max();
  std::map<ObjectId, ApiCall> sent_;
  std::unique_ptr<CallQueue<>> queue_;
};

}  // namespace schedq
