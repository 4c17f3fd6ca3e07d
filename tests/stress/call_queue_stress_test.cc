// Goal: on real threads every call ends exactly once, at most one is in flight an object, a full
// queue drains to the last call, and a frozen thread keeps no other from adding, syncing or
// cancelling.
// Method: threads add, sync and cancel on shared objects while all of them dispatch and a server
// thread completes; ends are counted. Then Close in the middle. Then the stall harness, with the
// same operations behind a mutex as the control that it must reject.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"
#include "tests/support/call_scene.h"
#include "tests/support/stall/harness.h"
#include "tests/support/stall/locked.h"

namespace schedq {
namespace {

constexpr uint32_t kThreads = 3;
constexpr ObjectId kObjects = 24;

// The counting listener, and a server that answers at once from the dispatching thread.
template <template <typename> class Atom>
class Counting final : public CallListener {
 public:
  explicit Counting(const CallQueueOptions& options) : queue_(options) {}

  void OnEnd(const ApiCall&, CallEnd, const Status&) override { ended_.fetch_add(1); }

  void Operate(Random& random, Instant now) {
    const ObjectId object = static_cast<ObjectId>(random.Below(kObjects));
    CallSpec spec{object, 0, Duration(random.Below(3'000'000)), pod_, this};
    switch (random.Below(6)) {
      case 0:
        return queue_.Cancel(object);
      case 1:
        return queue_.Sync(object, pod_);
      case 2:
        added_.fetch_add(1);
        return queue_.Add(BindTo(spec, "node"));
      case 3:
        return Dispatch(now, random.Chance(0.8));
      default:
        added_.fetch_add(1);
        return queue_.Add(random.Chance(0.5) ? SetMessage(spec, "a") : ClearMessage(spec));
    }
  }
  void Dispatch(Instant now, bool is_ok) {
    queue_.Dispatch(now, [&](const ApiCall& call) {
      const ObjectId object = call.object;
      if (in_flight_[object].fetch_add(1) != 0) doubled_.fetch_add(1);
      in_flight_[object].fetch_sub(1);
      queue_.Complete(object, is_ok ? Status() : Error("unavailable"));
    });
  }

  CallQueue<Atom>& queue() { return queue_; }
  uint64_t added() const { return added_.load(); }
  // What is wrong once nothing is left to do, or nothing.
  std::string Check() {
    if (doubled_.load() != 0) return "two calls in flight for one object";
    if (queue_.InFlight() != 0) return "a call is still in flight";
    if (ended_.load() == added_.load()) return "";
    return std::to_string(added_.load()) + " added, " + std::to_string(ended_.load()) + " ended";
  }

 private:
  const PodRef pod_ = UnmarkedPod();
  std::atomic<uint64_t> added_{0};
  std::atomic<uint64_t> ended_{0};
  std::atomic<uint64_t> doubled_{0};
  std::array<std::atomic<int>, kObjects> in_flight_{};
  CallQueue<Atom> queue_;
};

CallQueueOptions Unlimited(Clock* clock) {
  return {.clock = clock, .in_flight_max = 1000, .calls_per_second = 0};
}

class CallQueueStress : public testing::Test {
 protected:
  // Runs the threads; then all that is due within `later` starts.
  void RunThreads(bool closes, int turns) {
    VirtualClock clock{Instant(std::chrono::seconds(1))};
    Counting<std::atomic> counting(Unlimited(&clock));
    std::atomic<int64_t> ticks{0};
    std::vector<std::thread> team;
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
      team.emplace_back([&, thread] {
        Random random(thread);
        for (int turn = 0; turn < turns; ++turn) {
          const Duration passed = std::chrono::milliseconds(ticks.fetch_add(1) / 50);
          counting.Operate(random, clock.Now() + passed);
          if (closes && thread == 0 && turn == turns / 2) counting.queue().Close();
        }
      });
    }
    for (std::thread& member : team) member.join();
    counting.Dispatch(clock.Now() + std::chrono::hours(1), true);
    EXPECT_EQ(counting.Check(), "");
    EXPECT_GT(counting.added(), 1000u);
  }
};

TEST_F(CallQueueStress, EveryCallEndsOnce) { RunThreads(false, 60'000); }
TEST_F(CallQueueStress, NoCallIsLostAtClose) { RunThreads(true, 20'000); }

class QueueSubject final : public stall::Subject {
 public:
  void Operate(uint32_t thread, uint64_t turn) override {
    Random random(thread * 1'000'003 + turn);
    counting_.Operate(random, clock_.Now() + std::chrono::milliseconds(turn));
  }
  std::string Check() override {
    counting_.Dispatch(clock_.Now() + std::chrono::hours(1), true);
    return counting_.Check();
  }

 private:
  VirtualClock clock_{Instant(std::chrono::seconds(1))};
  Counting<stall::Atomic> counting_{Unlimited(&clock_)};
};

TEST_F(CallQueueStress, FrozenThreadStopsNoOther) {
  const stall::Report report = stall::Run({.threads = kThreads, .rounds = 100},
                                          [] { return std::make_unique<QueueSubject>(); });
  EXPECT_TRUE(report.passed()) << report;
  EXPECT_GT(report.steps_seen, 20u) << report;
}

TEST_F(CallQueueStress, MutexIsRejected) {
  const stall::Report report =
      stall::RunControl(kThreads, [] { return std::make_unique<stall::Locked<QueueSubject>>(); });
  EXPECT_FALSE(report.passed()) << report;
}

}  // namespace
}  // namespace schedq
