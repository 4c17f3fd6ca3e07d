// Goal: whole histories of the lock-free engine under real threads are linearizable: what Add, Pop
// and Delete have returned is what a strict queue behind a lock would have returned.
// Method: threads add pods, pop them and end their attempts, and delete pods of their own, which
// leaves stale tickets behind. Each pod is a new one and carries its number as its name, so all
// calls can be judged as one history of a priority queue (tests/support/checkers/priority_judge.h).
// Once with the shipped engine, and once with small dimensions and threads that yield within
// operations. SCHEDQ_HISTORY_OPERATIONS=10000000 makes long histories.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/queue_shape.h"
#include "engine/pod.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "tests/stress/history_stress.h"
#include "tests/support/checkers/timed_calls.h"
#include "tests/support/checkers/yielding.h"
#include "tests/support/lockfree_scene.h"
#include "tests/support/queue_wiring.h"
#include "tests/support/small_shapes.h"
#include "tests/support/stall/atomic.h"

namespace schedq {
namespace {

constexpr uint32_t kTicketShift = 40;
constexpr uint64_t kPriorities = 12;

// Each reading is a microsecond later than the one before, and one in eight is late by up to fifty.
class StepClock final : public Clock {
 public:
  Instant Now() const override {
    const uint64_t step = steps_.fetch_add(1, std::memory_order_relaxed);
    const uint64_t late = step % 8 == 0 ? step / 8 % 50 : 0;
    last_read = Instant(std::chrono::seconds(1000)) + std::chrono::microseconds(step - late);
    return last_read;
  }
  TimerId At(Instant, std::function<void()>) override { return 1; }
  TimerId Every(Instant, Duration, std::function<void()>) override { return 1; }
  bool Cancel(TimerId) override { return false; }

  // The calling thread's last reading.
  static inline thread_local Instant last_read{};

 private:
  mutable std::atomic<uint64_t> steps_{64};  // Written by all.
};

// A queue and what it needs.
class Scene {
 public:
  template <typename Queue>
  static std::unique_ptr<Scene> Of() {
    auto scene = std::unique_ptr<Scene>(new Scene);
    scene->queue_ = std::make_unique<Queue>(
        OptionsAround(&scene->clock_, &scene->names_, &scene->ports_, &scene->metrics_, {"Fit"}));
    return scene;
  }
  SchedulingQueue& queue() { return *queue_; }

  std::optional<PoppedPod> Pop(TimedCalls* calls) {
    std::optional<PoppedPod> popped;
    calls->Pop([&]() -> std::optional<ActiveEntry> {
      popped = queue_->TryPop();
      if (!popped) return std::nullopt;
      return ActiveEntry{popped->pod->priority, popped->fields.timestamp.time_since_epoch().count(),
                         std::stoull(popped->pod->name)};
    });
    return popped;
  }
  void Drain(TimedCalls* calls) {
    while (const std::optional<PoppedPod> popped = Pop(calls)) queue_->Done(popped->key);
  }

 private:
  Scene() : names_(10) {}

  StepClock clock_;
  Interner names_;
  WillingPorts ports_;
  MetricsRegistry metrics_;
  std::unique_ptr<SchedulingQueue> queue_;
};

// One thread's operations on a queue.
class SceneUser {
 public:
  SceneUser(Scene* scene, uint32_t thread, TimedCalls* calls)
      : scene_(scene),
        calls_(calls),
        choice_(thread + 1),
        next_ticket_(uint64_t{thread} << kTicketShift) {}

  void Run(uint64_t operations) {
    while (calls_->calls().size() < operations) {
      if (!choice_.DrawPush()) {
        if (const auto popped = scene_->Pop(calls_)) scene_->queue().Done(popped->key);
      } else if (choice_.random().Below(8) == 0) {
        DeleteOne();
      } else {
        Add();
      }
    }
  }

 private:
  void Add() {
    auto pod = std::make_shared<Pod>();
    pod->namespace_name = "ns";
    pod->name = std::to_string(next_ticket_);
    pod->uid = pod->name;
    pod->priority = static_cast<int32_t>(choice_.random().Below(kPriorities));
    own_[next_ticket_ % own_.size()] = pod;
    ActiveEntry entry{pod->priority, 0, next_ticket_++};
    calls_->Push(entry, [&] {
      MustSucceed(scene_->queue().Add(std::move(pod)));
      entry.timestamp_ns = StepClock::last_read.time_since_epoch().count();
    });
  }
  // One of the last that this thread has added; it may have been popped.
  void DeleteOne() {
    PodRef& chosen = own_[choice_.random().Below(own_.size())];
    if (chosen == nullptr) return;
    const PodRef pod = std::exchange(chosen, nullptr);
    calls_->Remove(std::stoull(pod->name), [&] { scene_->queue().Delete(*pod); });
  }

  Scene* const scene_;
  TimedCalls* const calls_;
  PushOrPop choice_;
  uint64_t next_ticket_;
  std::array<PodRef, 64> own_;
};

// Drops stale tickets often, and meets the borders of its structures soon.
struct SmallQueueShape : LockfreeQueueShape {
  using Active = SmallActiveQueueShape;
  static constexpr uint64_t kSpareTickets = 16;
};

class EngineHistoryStress : public testing::TestWithParam<uint32_t> {
 protected:
  static void ExpectNothingIsLeft(SchedulingQueue& queue) {
    EXPECT_EQ(queue.Counts(), QueueCounts());
  }
};
INSTANTIATE_TEST_SUITE_P(Threads, EngineHistoryStress, testing::Values(2, 4, 8));

TEST_P(EngineHistoryStress, ShippedEngineIsLinearizable) {
  const auto scene = Scene::Of<BasicLockfreeQueue<std::atomic>>();
  ExpectHistoryHolds(JudgeThreads(
                         GetParam(),
                         [&](uint32_t thread, uint64_t operations, TimedCalls* calls) {
                           SceneUser(scene.get(), thread, calls).Run(operations);
                         },
                         [&](TimedCalls* calls) { scene->Drain(calls); }),
                     /*must_overlap=*/false);
  ExpectNothingIsLeft(scene->queue());
}

TEST_P(EngineHistoryStress, SmallEngineIsLinearizableWhereverItsThreadsYield) {
  const auto scene = Scene::Of<BasicLockfreeQueue<stall::Atomic, SmallQueueShape>>();
  ExpectHistoryHolds(JudgeThreads(
                         GetParam(),
                         [&](uint32_t thread, uint64_t operations, TimedCalls* calls) {
                           const Yielding yielding(thread, kStepsPerYield);
                           SceneUser(scene.get(), thread, calls).Run(operations);
                         },
                         [&](TimedCalls* calls) { scene->Drain(calls); }),
                     /*must_overlap=*/true);
  ExpectNothingIsLeft(scene->queue());
}

}  // namespace
}  // namespace schedq
