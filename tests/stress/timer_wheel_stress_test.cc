// Goal: on real threads, every timer that is set comes due once or is cancelled, and a frozen
// thread keeps no other from setting, cancelling or pumping.
// Method: threads set, overwrite and cancel timers of their own and shared ones while all of them
// pump; what was armed and not cancelled must have come due. Then the stall harness, with the same
// operations behind a mutex as the control that it must reject.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dispatcher/timer_wheel/tick_buckets.h"
#include "dispatcher/timer_wheel/timer_wheel.h"
#include "engine/base/random.h"
#include "tests/support/stall/harness.h"
#include "tests/support/stall/locked.h"

namespace schedq {
namespace {

constexpr uint32_t kThreads = 3;
constexpr uint32_t kTimersOfOne = 200;

TEST(TimerWheelStress, EachTimerComesDueOnceOrIsCancelled) {
  TimerWheel<> wheel;
  const uint32_t timers = kThreads * kTimersOfOne;
  for (uint32_t timer = 0; timer < timers; ++timer) wheel.ReserveThrough(timer);
  std::vector<std::atomic<int64_t>> due(timers);  // Set and neither cancelled nor come due.
  std::atomic<Tick> now{0};
  const auto expire = [&](uint32_t timer) { due[timer].fetch_sub(1); };
  std::vector<std::thread> team;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    team.emplace_back([&, thread] {
      Random random(thread);
      for (int turn = 0; turn < 60'000; ++turn) {
        // A timer of its own, so that it knows whether it is armed.
        const uint32_t timer =
            thread * kTimersOfOne + static_cast<uint32_t>(random.Below(kTimersOfOne));
        if (wheel.Cancel(timer)) due[timer].fetch_sub(1);
        due[timer].fetch_add(1);
        wheel.Schedule(timer, now.load() + random.Below(9000));
        if (turn % 16 == 0) wheel.ExpireUntil(now.fetch_add(random.Below(20)), expire);
      }
    });
  }
  for (std::thread& member : team) member.join();
  wheel.ExpireUntil(now.load() + 20'000, expire);
  for (uint32_t timer = 0; timer < timers; ++timer) ASSERT_EQ(due[timer].load(), 0) << timer;
}

class WheelSubject final : public stall::Subject {
 public:
  WheelSubject() {
    for (uint32_t timer = 0; timer < kTimers; ++timer) wheel_.ReserveThrough(timer);
  }
  void Operate(uint32_t thread, uint64_t turn) override {
    wheel_.Schedule(static_cast<uint32_t>(turn % kTimers), turn + thread);
    wheel_.Cancel(static_cast<uint32_t>(turn * 7 % kTimers));
    wheel_.ExpireUntil(turn, [](uint32_t) {});
  }
  std::string Check() override {
    uint32_t expired = 0;
    for (uint32_t timer = 0; timer < kTimers; ++timer) wheel_.Schedule(timer, 0);
    wheel_.ExpireUntil(100'000, [&](uint32_t) { ++expired; });
    return expired == kTimers ? "" : std::to_string(expired) + " timers came due";
  }

 private:
  static constexpr uint32_t kTimers = 16;
  TimerWheel<stall::Atomic> wheel_;
};

TEST(TimerWheelStress, FrozenThreadStopsNoOther) {
  const stall::Report report = stall::Run({.threads = kThreads, .rounds = 100},
                                          [] { return std::make_unique<WheelSubject>(); });
  EXPECT_TRUE(report.passed()) << report;
  EXPECT_GT(report.steps_seen, 30u) << report;
}

TEST(TimerWheelStress, MutexIsRejected) {
  const stall::Report report =
      stall::RunControl(kThreads, [] { return std::make_unique<stall::Locked<WheelSubject>>(); });
  EXPECT_FALSE(report.passed()) << report;
}

}  // namespace
}  // namespace schedq
