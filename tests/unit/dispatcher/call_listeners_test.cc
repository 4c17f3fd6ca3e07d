// Goal: whatever a listener or a start does, every call ends once, the operation in which that
// happens takes effect whole, and a dispatcher can be closed.
// Method: listeners and starts that throw, and listeners that use the queue while it is destroyed.
// What the queue keeps of a pod is counted by the pod's references.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/thread_dispatcher.h"
#include "engine/base/result.h"
#include "engine/base/time/real_clock.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "tests/support/call_queue_fixture.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using Ends = std::vector<EndRecorder::Ended>;
using Tags = std::vector<uint64_t>;

// Records what it is told, and then does something, or throws.
class ActingListener final : public CallListener {
 public:
  void OnEnd(const ApiCall& call, CallEnd end, const Status&) override {
    ends.push_back({call.tag, end});
    act();
  }
  void OnSuccessorEnd(const ApiCall&, uint64_t tag, const Status& status) override {
    successor_ends.push_back({tag, status.ok() ? CallEnd::kSuccess : CallEnd::kError});
    act();
  }

  std::function<void()> act = [] { throw std::runtime_error("a listener's fault"); };
  Ends ends;
  Ends successor_ends;
};

class CallListenersTest : public CallQueueFixture {
 protected:
  CallSpec Told(ObjectId object, uint64_t tag, Duration delay = {}) {
    return {object, tag, delay, pod_, &listener_};
  }

  PodRef pod_ = UnmarkedPod();
  ActingListener listener_;
};

TEST_F(CallListenersTest, AnswerTakesEffectAlthoughTheListenerThrows) {
  queue_->Add(SetMessage(Told(0, 1), "a"));
  EXPECT_EQ(Dispatch(), Tags{1});
  queue_->Add(SetMessage(Told(0, 2), "b"));
  queue_->Complete(0, Status());
  EXPECT_EQ(queue_->InFlight(), 0u);
  EXPECT_EQ(Dispatch(), Tags{2});
  queue_->Complete(0, Error("503"));
  EXPECT_EQ(listener_.ends, (Ends{{1, CallEnd::kSuccess}, {2, CallEnd::kError}}));
}

TEST_F(CallListenersTest, EachListenerIsToldAlthoughTheOtherThrows) {
  queue_->Add(SetMessage(Told(0, 1), "a"));
  queue_->Add(NominateNode(Told(0, 2), "node"));
  EXPECT_EQ(Dispatch(), Tags{2});
  queue_->Complete(0, Status());
  EXPECT_EQ(listener_.ends, (Ends{{1, CallEnd::kOverwritten}, {2, CallEnd::kSuccess}}));
  EXPECT_EQ(listener_.successor_ends, (Ends{{1, CallEnd::kSuccess}}));
}

TEST_F(CallListenersTest, NothingOfACallStaysBehindWhereItsListenerThrows) {
  for (int round = 0; round < 40; ++round) {
    queue_->Add(SetMessage(Told(0, 1), "a"));
    queue_->Add(SetMessage(Told(0, 2), "b"));
    queue_->Cancel(0);
    queue_->Add(SetMessage(Told(0, 3), "c"));
    Dispatch();
    queue_->Complete(0, Error("503"));
  }
  EXPECT_EQ(listener_.ends.size(), 120u);
  sent_.clear();
  queue_.reset();
  EXPECT_EQ(pod_.use_count(), 1);
}

// Whatever ends a call, or starts it, after its pod was seen in newer versions.
TEST_F(CallListenersTest, EveryEndOfACallThatWasSyncedHasThePodAsSeenLast) {
  PodRef seen;
  std::vector<PodRef> told;
  class Noting final : public CallListener {
   public:
    explicit Noting(std::vector<PodRef>* told) : told_(*told) {}
    void OnEnd(const ApiCall& call, CallEnd, const Status&) override { told_.push_back(call.pod); }

   private:
    std::vector<PodRef>& told_;
  } listener(&told);
  const auto add_and_see_twice = [&] {
    queue_->Add(SetMessage({0, 1, Duration(0), pod_, &listener}, "a"));
    queue_->Sync(0, UnmarkedPod());
    seen = UnmarkedPod();
    queue_->Sync(0, seen);
    told.clear();
  };
  for (int round = 0; round < 100; ++round) {
    add_and_see_twice();
    queue_->Cancel(0);
    EXPECT_EQ(told, std::vector<PodRef>{seen});
    add_and_see_twice();
    queue_->Add(SetMessage({0, 2, Duration(0), pod_, nullptr}, "b"));
    EXPECT_EQ(told, std::vector<PodRef>{seen});
    queue_->Cancel(0);
    add_and_see_twice();
    queue_->Add(BindTo({0, 3, Duration(0), pod_, nullptr}, "node"));
    EXPECT_EQ(told, std::vector<PodRef>{seen});
    queue_->Cancel(0);
    add_and_see_twice();
    Dispatch();
    EXPECT_EQ(sent_[0].pod, seen);
    queue_->Complete(0, Error("503"));
    EXPECT_EQ(told, std::vector<PodRef>{seen});
    add_and_see_twice();
    seen = MarkedPod("a");
    queue_->Sync(0, seen);
    EXPECT_EQ(told.size(), 1u) << "it changes nothing any more";
  }
  sent_.clear();
  told.clear();
  const std::weak_ptr<const Pod> last = std::exchange(seen, nullptr);
  queue_.reset();
  EXPECT_TRUE(last.expired()) << "no state of it is left";
  EXPECT_EQ(pod_.use_count(), 1);
}

TEST_F(CallListenersTest, CallWhoseStartThrowsHasFailed) {
  listener_.act = [] {};
  queue_->Add(SetMessage(Told(0, 1), "a"));
  queue_->Add(SetMessage(Told(1, 2), "b"));
  queue_->Dispatch(clock_.Now(), [](const ApiCall& call) {
    if (call.tag == 1) throw std::runtime_error("a sink's fault");
  });
  EXPECT_EQ(listener_.ends, (Ends{{1, CallEnd::kError}}));
  EXPECT_EQ(queue_->InFlight(), 1u) << "the other one";
  queue_->Complete(1, Status());
  queue_->Add(SetMessage(Told(2, 3), "c"));
  EXPECT_EQ(Dispatch(), Tags{3}) << "the queue can be dispatched";
  queue_->Complete(2, Status());
}

TEST_F(CallListenersTest, TheOwnerLearnsOfEachExceptionWhileItIsHandled) {
  std::vector<std::string> thrown;
  Make({.calls_per_second = 0, .on_exception = [&thrown] {
          try {
            throw;
          } catch (const std::exception& error) {
            thrown.emplace_back(error.what());
          }
        }});
  queue_->Add(SetMessage(Told(0, 1), "a"));
  Dispatch();
  queue_->Complete(0, Status());
  queue_->Add(SetMessage(Told(1, 2), "b"));
  listener_.act = [] {};
  queue_->Dispatch(clock_.Now(),
                   [](const ApiCall&) { throw std::runtime_error("a sink's fault"); });
  EXPECT_EQ(thrown, (std::vector<std::string>{"a listener's fault", "a sink's fault"}));
}

// One call is in flight, and what succeeded before was seen in another version since.
TEST_F(CallListenersTest, ListenerMayCancelWhileTheQueueIsDestroyed) {
  queue_->Add(SetMessage(Told(0, 1), "a"));
  Dispatch();
  listener_.act = [] {};
  queue_->Complete(0, Status());
  queue_->Add(SetMessage(Told(0, 2), "b"));
  Dispatch();
  const PodRef seen = UnmarkedPod();
  const std::vector<PodRef> held(4, seen);
  queue_->Sync(0, seen);
  CallQueue<>* const queue = queue_.get();
  listener_.act = [&] {
    queue->Cancel(0);
    queue->Sync(0, UnmarkedPod());
    queue->Complete(0, Status());
    queue->Add(SetMessage(CallSpec{0, 3}, "c"));
  };
  listener_.ends.clear();
  queue_.reset();
  EXPECT_EQ(listener_.ends, (Ends{{2, CallEnd::kError}}));
  EXPECT_EQ(seen.use_count(), 5) << "each state is destroyed once";
}

// Of several threads.
class ThrowingListener final : public CallListener {
 public:
  void OnEnd(const ApiCall&, CallEnd, const Status&) override {
    ends.fetch_add(1);
    throw std::runtime_error("a listener's fault");
  }
  std::atomic<int> ends{0};
};

// Answers at once, and survives what an answer throws.
class CarelessSink final : public ApiSink {
 public:
  void Execute(const ApiCall& call, std::function<void(const Status&)> done) override {
    if (call.type == CallType::kBinding) throw std::runtime_error("a sink's fault");
    try {
      done(Status());
    } catch (const std::exception&) {
    }
  }
};

TEST(ThreadDispatcherTest, ClosesAlthoughListenersAndTheSinkThrow) {
  RealClock clock;
  CarelessSink sink;
  ThrowingListener listener;
  ThreadDispatcher dispatcher({.clock = &clock, .calls_per_second = 0}, &sink);
  const PodRef pod = UnmarkedPod();
  const Duration later = std::chrono::hours(1);
  dispatcher.queue().Add(SetMessage({0, 1, Duration(0), pod, &listener}, "a"));
  dispatcher.queue().Add(BindTo({1, 2, Duration(0), pod, &listener}, "node"));
  dispatcher.queue().Add(SetMessage({2, 3, later, pod, &listener}, "c"));
  dispatcher.Close();
  EXPECT_EQ(listener.ends.load(), 3);
}

}  // namespace
}  // namespace schedq
