// Goal: with a thread of its own on the real clock, a call queue makes every call that is due, ends
// every call exactly once, and closes without losing one, whichever threads add meanwhile.
// Method: a sink that answers from threads of its own, now and then with an error; threads that
// add, sync and cancel; Close in the middle of it. Every call has a tag, and each tag must end
// once.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/thread_dispatcher.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/real_clock.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;

constexpr ObjectId kObjects = 16;
constexpr int kThreads = 3;
constexpr uint64_t kCallsPerThread = 3000;

// Answers each call from one of two threads, and checks that an object has one in flight.
class ThreadedSink final : public ApiSink {
 public:
  ThreadedSink() {
    for (std::thread& thread : threads_) {
      thread = std::thread([this] { Answer(); });
    }
  }
  ~ThreadedSink() override {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void Execute(const ApiCall& call, std::function<void(const Status&)> done) override {
    if (in_flight_[call.object].fetch_add(1) != 0) doubled_.fetch_add(1);
    const std::lock_guard lock(mutex_);
    waiting_.push_back([this, object = call.object, done = std::move(done)](bool is_ok) {
      in_flight_[object].fetch_sub(1);
      done(is_ok ? Status() : Error("unavailable"));
    });
    changed_.notify_one();
  }

  uint64_t executed() const { return executed_.load(); }
  uint64_t doubled() const { return doubled_.load(); }

 private:
  void Answer() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const auto answer = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      answer(executed_.fetch_add(1) % 7 != 0);
      lock.lock();
    }
  }

  std::array<std::atomic<int>, kObjects> in_flight_{};
  std::atomic<uint64_t> executed_{0};
  std::atomic<uint64_t> doubled_{0};
  std::mutex mutex_;  // Guards all below.
  std::condition_variable changed_;
  std::deque<std::function<void(bool is_ok)>> waiting_;
  bool is_closing_ = false;
  std::array<std::thread, 2> threads_;
};

// How often each tag ended.
class TagCounter final : public CallListener {
 public:
  explicit TagCounter(size_t tags) : ended_(tags) {}

  void OnEnd(const ApiCall& call, CallEnd, const Status&) override {
    ended_[call.tag].fetch_add(1);
  }
  // Of the first `tags`, those that did not end exactly once.
  uint64_t Wrong(size_t tags) const {
    uint64_t wrong = 0;
    for (size_t tag = 0; tag < tags; ++tag) wrong += ended_[tag].load() == 1 ? 0 : 1;
    return wrong;
  }

 private:
  std::vector<std::atomic<int>> ended_;
};

CallQueueOptions Unlimited(Clock* clock) {
  CallQueueOptions options;
  options.clock = clock;
  options.in_flight_max = 8;
  options.calls_per_second = 0;
  return options;
}

// Waits for what must come; false: it did not come in time.
bool Comes(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

class ThreadDispatcherStress : public testing::Test {
 protected:
  void Add(uint64_t tag, ObjectId object, Duration delay, bool binds) {
    const CallSpec spec{object, tag, delay, pod_, &counter_};
    dispatcher_.queue().Add(binds ? BindTo(spec, "node") : SetMessage(spec, std::to_string(tag)));
  }
  void Operate(uint64_t first_tag, uint64_t seed) {
    Random random(seed);
    for (uint64_t call = 0; call < kCallsPerThread; ++call) {
      // Now and then the others get ahead, so that calls go out between those that are merged.
      if (call % 32 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      const auto object = static_cast<ObjectId>(random.Below(kObjects));
      if (random.Chance(0.1)) dispatcher_.queue().Cancel(object);
      if (random.Chance(0.1)) dispatcher_.queue().Sync(object, pod_);
      Add(first_tag + call, object, Duration(static_cast<int64_t>(random.Below(3'000'000))),
          random.Chance(0.2));
    }
  }
  void RunThreads(const std::function<void()>& meanwhile) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([this, thread] {
        Operate(static_cast<uint64_t>(thread) * kCallsPerThread, static_cast<uint64_t>(thread) + 1);
      });
    }
    meanwhile();
    for (std::thread& thread : threads) thread.join();
  }

  static constexpr uint64_t kCalls = kThreads * kCallsPerThread;
  const PodRef pod_ = UnmarkedPod();
  RealClock clock_;
  ThreadedSink sink_;
  TagCounter counter_{kCalls};
  ThreadDispatcher dispatcher_{Unlimited(&clock_), &sink_};
};

TEST_F(ThreadDispatcherStress, EveryCallEndsOnceWithoutClosing) {
  RunThreads([] {});
  EXPECT_TRUE(Comes([this] { return counter_.Wrong(kCalls) == 0; })) << counter_.Wrong(kCalls);
  EXPECT_GT(sink_.executed(), 0u);
  EXPECT_EQ(sink_.doubled(), 0u);
}

TEST_F(ThreadDispatcherStress, ClosingAmidCallsLosesNone) {
  RunThreads([this] {
    EXPECT_TRUE(Comes([this] { return sink_.executed() > 10; }));
    dispatcher_.Close();
    EXPECT_EQ(dispatcher_.queue().InFlight(), 0u);
  });
  EXPECT_EQ(counter_.Wrong(kCalls), 0u);
  EXPECT_EQ(sink_.doubled(), 0u);
  const uint64_t executed = sink_.executed();
  Add(0, 0, Duration(0), true);
  EXPECT_EQ(sink_.executed(), executed) << "nothing starts after Close";
}

// The thread sleeps for an hour; a call that comes meanwhile must not wait for that.
TEST_F(ThreadDispatcherStress, SleepingThreadIsWokenForAnEarlierCall) {
  Add(0, 0, std::chrono::hours(1), false);
  std::this_thread::sleep_for(milliseconds(20));
  Add(1, 1, Duration(0), false);
  EXPECT_TRUE(Comes([this] { return sink_.executed() == 1; }));
  Add(2, 2, milliseconds(5), false);
  EXPECT_TRUE(Comes([this] { return sink_.executed() == 2; }));
  dispatcher_.Close();
  EXPECT_EQ(counter_.Wrong(3), 0u);
}

// Stays in the operation that ended the first call until it is released.
class SlowListener final : public CallListener {
 public:
  void OnEnd(const ApiCall& call, CallEnd, const Status&) override {
    ended_[call.tag].store(true);
    if (call.tag != 0) return;
    is_telling_.store(true);
    Comes([this] { return is_released_.load(); });
  }
  bool HasEnded(uint64_t tag) const { return ended_[tag].load(); }
  bool IsTelling() const { return is_telling_.load(); }
  void Release() { is_released_.store(true); }

 private:
  std::array<std::atomic<bool>, 2> ended_{};
  std::atomic<bool> is_telling_{false};
  std::atomic<bool> is_released_{false};
};

TEST(ThreadDispatcherClose, WaitsForWhatAnotherThreadSkips) {
  RealClock clock;
  ThreadedSink sink;
  SlowListener listener;
  const PodRef pod = UnmarkedPod();
  ThreadDispatcher dispatcher(Unlimited(&clock), &sink);
  const auto add = [&](uint64_t tag) {
    const CallSpec spec{0, tag, std::chrono::hours(1), pod, &listener};
    dispatcher.queue().Add(SetMessage(spec, std::to_string(tag)));
  };
  add(0);
  std::thread overwriter([&] { add(1); });
  ASSERT_TRUE(Comes([&] { return listener.IsTelling(); }));
  std::atomic<bool> has_closed{false};
  std::thread closer([&] {
    dispatcher.Close();
    EXPECT_TRUE(listener.HasEnded(1));
    has_closed.store(true);
  });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(has_closed.load());
  listener.Release();
  overwriter.join();
  closer.join();
}

}  // namespace
}  // namespace schedq
