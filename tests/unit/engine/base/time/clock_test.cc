// Goal: timers run once, in order, at their instant, on both clocks. Method: the virtual clock by
// directed cases and by a seeded run against a sorted list; the real clock by timers a few
// milliseconds away whose order, and never whose exact time, is checked.
#include "engine/base/time/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/time/real_clock.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr Instant kStart{std::chrono::seconds(1700000000)};

TEST(Time, WholeSecondsOfAbsoluteTime) {
  EXPECT_EQ(TruncateToSecond(kStart + milliseconds(300)), kStart);
  EXPECT_EQ(NextWholeSecond(kStart + milliseconds(300)), kStart + kSecond);
  EXPECT_EQ(NextWholeSecond(kStart), kStart + kSecond);
  EXPECT_EQ(TruncateToSecond(Instant(milliseconds(-300))), Instant(seconds(-1)));
}

TEST(VirtualClock, RunsTimersInOrderOfInstantThenScheduling) {
  VirtualClock clock(kStart);
  std::string order;
  clock.At(kStart + seconds(2), [&] { order += 'c'; });
  clock.At(kStart + seconds(1), [&] { order += 'a'; });
  clock.At(kStart + seconds(1), [&] { order += 'b'; });
  clock.At(kStart + seconds(3), [&] { order += 'd'; });
  EXPECT_EQ(clock.NextTimer(), kStart + seconds(1));
  clock.AdvanceTo(kStart + seconds(2));
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(clock.Now(), kStart + seconds(2));
  EXPECT_EQ(clock.pending(), 1u);
}

TEST(VirtualClock, NowIsTheTimersInstant) {
  VirtualClock clock(kStart);
  Instant seen{};
  clock.At(kStart + milliseconds(1500), [&] { seen = clock.Now(); });
  clock.AdvanceBy(minutes(10));
  EXPECT_EQ(seen, kStart + milliseconds(1500));
  EXPECT_EQ(clock.Now(), kStart + minutes(10));
}

TEST(VirtualClock, ATimerInThePastRunsNow) {
  VirtualClock clock(kStart);
  Instant seen{};
  clock.At(kStart - minutes(1), [&] { seen = clock.Now(); });
  clock.AdvanceTo(kStart);
  EXPECT_EQ(seen, kStart);
}

TEST(VirtualClock, ActionsScheduleAndCancel) {
  VirtualClock clock(kStart);
  std::vector<int> ran;
  TimerId doomed = 0;
  clock.At(kStart + seconds(1), [&] {
    ran.push_back(1);
    EXPECT_TRUE(clock.Cancel(doomed));
    clock.At(clock.Now(), [&] { ran.push_back(2); });
  });
  doomed = clock.At(kStart + seconds(1), [&] { ran.push_back(99); });
  clock.AdvanceBy(seconds(1));
  EXPECT_THAT(ran, ElementsAre(1, 2));
  EXPECT_FALSE(clock.Cancel(doomed));
  EXPECT_FALSE(clock.Cancel(0));
}

TEST(VirtualClock, TickersTickUntilCancelled) {
  VirtualClock clock(kStart + milliseconds(300));
  std::vector<int64_t> ticks_ms;
  TimerId ticker = 0;
  ticker = clock.Every(NextWholeSecond(clock.Now()), kSecond, [&] {
    ticks_ms.push_back((clock.Now() - kStart) / milliseconds(1));
    if (ticks_ms.size() == 3) {
      EXPECT_TRUE(clock.Cancel(ticker));
    }
  });
  clock.AdvanceBy(minutes(1));
  EXPECT_THAT(ticks_ms, ElementsAre(1000, 2000, 3000));
  EXPECT_EQ(clock.pending(), 0u);
}

TEST(VirtualClock, RunUntilStopsAtItsConditionOrItsLimit) {
  VirtualClock clock(kStart);
  int ticks = 0;
  clock.Every(kStart + kSecond, kSecond, [&] { ++ticks; });
  EXPECT_TRUE(clock.RunUntil([&] { return ticks == 5; }));
  EXPECT_EQ(clock.Now(), kStart + seconds(5));
  EXPECT_FALSE(clock.RunUntil([&] { return ticks == 50; }, kStart + seconds(7)));
  EXPECT_EQ(ticks, 7);
  EXPECT_TRUE(clock.RunNext());
  EXPECT_EQ(ticks, 8);
  EXPECT_FALSE(VirtualClock(kStart).RunNext());
}

TEST(VirtualClock, ManyTimersAgainstASortedList) {
  VirtualClock clock(kStart);
  Random random(11);
  using Planned = std::tuple<Instant, int, TimerId>;
  std::vector<Planned> planned;
  std::vector<int> ran;
  for (int number = 0; number < 5000; ++number) {
    const Instant at = kStart + milliseconds(random.Below(500));
    planned.emplace_back(at, number, clock.At(at, [&ran, number] { ran.push_back(number); }));
  }
  random.Shuffle(planned);
  while (planned.size() > 1000) {  // Most are cancelled, so that the heap is compacted.
    ASSERT_TRUE(clock.Cancel(std::get<2>(planned.back())));
    planned.pop_back();
  }
  std::sort(planned.begin(), planned.end());
  clock.AdvanceBy(kSecond);
  ASSERT_EQ(ran.size(), planned.size());
  for (size_t i = 0; i < ran.size(); ++i) ASSERT_EQ(ran[i], std::get<1>(planned[i]));
}

TEST(VirtualClockDeathTest, TimeDoesNotGoBack) {
  VirtualClock clock(kStart);
  EXPECT_DEATH(clock.AdvanceTo(kStart - kSecond), "does not go back");
  clock.At(kStart, [&] { clock.AdvanceBy(kSecond); });
  EXPECT_DEATH(clock.RunNext(), "must not advance");
}

TEST(RealClock, RunsTimersInOrderAndNotEarly) {
  RealClock clock;
  std::promise<void> finished;
  std::string order;
  const Instant start = clock.Now();
  Instant ran_at{};
  clock.At(start + milliseconds(6), [&] {
    order += 'b';
    ran_at = clock.Now();
    finished.set_value();
  });
  clock.At(start + milliseconds(3), [&] { order += 'a'; });
  finished.get_future().wait();
  EXPECT_EQ(order, "ab");
  EXPECT_GE(ran_at, start + milliseconds(6));
}

TEST(RealClock, TickersTickUntilCancelled) {
  RealClock clock;
  std::promise<void> finished;
  int ticks = 0;
  const TimerId ticker = clock.Every(clock.Now(), milliseconds(1), [&] {
    if (++ticks == 3) finished.set_value();
  });
  finished.get_future().wait();
  EXPECT_TRUE(clock.Cancel(ticker));
  const int after_cancel = ticks;
  std::promise<void> later;
  clock.At(clock.Now() + milliseconds(5), [&] { later.set_value(); });
  later.get_future().wait();
  EXPECT_EQ(ticks, after_cancel);
}

TEST(RealClock, CancelWaitsForTheRunningAction) {
  RealClock clock;
  std::promise<void> started;
  std::atomic<bool> ended{false};
  const TimerId timer = clock.At(clock.Now(), [&] {
    started.set_value();
    std::this_thread::sleep_for(milliseconds(10));
    ended = true;
  });
  started.get_future().wait();
  EXPECT_FALSE(clock.Cancel(timer)) << "it ran";
  EXPECT_TRUE(ended);
}

TEST(RealClock, AnActionCancelsItsOwnTicker) {
  RealClock clock;
  std::promise<bool> cancelled;
  TimerId ticker = 0;
  std::promise<void> known;
  ticker = clock.Every(clock.Now(), milliseconds(1), [&] {
    known.get_future().wait();
    cancelled.set_value(clock.Cancel(ticker));
  });
  known.set_value();
  EXPECT_TRUE(cancelled.get_future().get());
}

TEST(RealClock, ClosesWithPendingTimers) {
  bool ran = false;
  {
    RealClock clock;
    clock.At(clock.Now() + minutes(10), [&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace schedq
