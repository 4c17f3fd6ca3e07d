// Goal: what runs on the real clock are made of keeps its rules: nothing that was pushed is lost or
// out of order, calls and timers run on the cluster's thread, time is split without rest.
// Method: each part alone, with real threads.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/sim/real/attempt_book.h"
#include "bench/sim/real/channel.h"
#include "bench/sim/real/latency_meter.h"
#include "bench/sim/real/part_clock.h"
#include "bench/sim/real/requeue_meter.h"
#include "bench/sim/real/wall_pace.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/place.h"
#include "perf/statistics/histogram.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;

TEST(Channel, ValuesOfOnePusherKeepTheirOrder) {
  constexpr size_t kPushers = 4;
  constexpr int kValues = 20'000;
  struct Value {
    size_t pusher = 0;
    int number = 0;
  };
  Channel<Value> channel;
  std::vector<std::jthread> pushers;
  for (size_t i = 0; i < kPushers; ++i) {
    pushers.emplace_back([&channel, i] {
      for (int number = 0; number < kValues; ++number) channel.Push({i, number});
    });
  }
  std::array<int, kPushers> next{};
  Value value;
  for (size_t i = 0; i < kPushers * kValues; ++i) {
    ASSERT_TRUE(channel.Pop(&value, SteadyNow() + std::chrono::seconds(30)));
    ASSERT_EQ(value.number, next[value.pusher]++);
  }
  EXPECT_FALSE(channel.TryPop(&value));
}

TEST(Channel, CloseWakesAReaderAndKeepsWhatIsLeft) {
  Channel<int> channel;
  std::atomic<int> sum{0};
  std::jthread reader([&] {
    int value = 0;
    while (channel.Pop(&value)) sum.fetch_add(value);
  });
  channel.Push(1);
  std::this_thread::sleep_for(milliseconds(5));
  channel.Push(2);
  channel.Close();
  reader.join();
  EXPECT_EQ(sum.load(), 3);
}

TEST(Channel, ADeadlineEndsAPop) {
  Channel<int> channel;
  int value = 0;
  const MonotonicTime start = SteadyNow();
  EXPECT_FALSE(channel.Pop(&value, start + milliseconds(10)));
  EXPECT_GE(SteadyNow() - start, milliseconds(10));
}

TEST(WallPace, RunsCallsOfOtherThreadsInTheirOrderAndOnTheClustersThread) {
  WallPace pace;
  VirtualClock clock(pace.Now());
  constexpr int kCalls = 5'000;
  const auto here = std::this_thread::get_id();
  int next = 0;
  bool are_right = true;
  std::jthread poster([&] {
    for (int i = 0; i < kCalls; ++i) {
      pace.Post([&, i] {
        are_right = are_right && next == i && std::this_thread::get_id() == here;
        ++next;
      });
    }
  });
  EXPECT_TRUE(pace.RunUntil(
      &clock, [&] { return next == kCalls; }, pace.Now() + std::chrono::seconds(30)));
  EXPECT_TRUE(are_right);
  EXPECT_TRUE(pace.IsIdle());
}

// A timer that runs late still sees the instant for which it was set.
TEST(WallPace, ATimerSeesTheInstantItWasMeantFor) {
  WallPace pace;
  const Instant start = pace.Now();
  VirtualClock clock(start);
  std::vector<Duration> seen;
  clock.At(start + milliseconds(2), [&] {
    seen.push_back(clock.Now() - start);
    std::this_thread::sleep_for(milliseconds(20));
  });
  clock.At(start + milliseconds(3), [&] { seen.push_back(clock.Now() - start); });
  EXPECT_TRUE(pace.RunUntil(
      &clock, [&] { return seen.size() == 2; }, start + std::chrono::seconds(30)));
  EXPECT_EQ(seen, (std::vector<Duration>{milliseconds(2), milliseconds(3)}));
  EXPECT_GE(pace.Now() - start, milliseconds(22));
}

TEST(WallPace, TheLimitEndsAWaitForNothing) {
  WallPace pace;
  VirtualClock clock(pace.Now());
  const Instant limit = pace.Now() + milliseconds(20);
  EXPECT_FALSE(pace.RunUntil(
      &clock, [] { return false; }, limit));
  EXPECT_GE(pace.Now(), limit);
}

TEST(PartClock, SplitsTheProcessorTimeOfItsThread) {
  PartClock parts;
  const auto work = [](Duration duration) {
    const MonotonicTime end = SteadyNow() + duration;
    while (SteadyNow() < end) {
    }
  };
  parts.SwitchTo(Part::kPlacing);
  work(milliseconds(30));
  parts.SwitchTo(Part::kCache);
  work(milliseconds(10));
  parts.SwitchTo(Part::kIdle);
  std::this_thread::sleep_for(milliseconds(20));
  const ThreadUsage usage = parts.Usage();
  const std::array<double, kParts> split = usage.CpuByPart();
  double sum = 0;
  for (const double seconds : split) sum += seconds;
  EXPECT_NEAR(sum, usage.cpu, 1e-6) << "all of it is in some part";
  // How they are split depends on when the kernel set the thread aside.
  EXPECT_GT(split[static_cast<size_t>(Part::kPlacing)], 0);
  EXPECT_GT(split[static_cast<size_t>(Part::kCache)], 0);
  EXPECT_EQ(split[static_cast<size_t>(Part::kServer)], 0);
  EXPECT_EQ(split[static_cast<size_t>(Part::kIdle)], 0);
}

// What a section has is split by what it did, not by what was before it.
TEST(ThreadUsage, ADifferenceIsSplitByItself) {
  ThreadUsage before;
  before.cpu = 1;
  before.spent[static_cast<size_t>(Part::kEvents)] = 1;
  ThreadUsage after = before;
  after.cpu = 2;
  after.spent[static_cast<size_t>(Part::kQueue)] = 9;
  const std::array<double, kParts> split = after.Since(before).CpuByPart();
  EXPECT_EQ(split[static_cast<size_t>(Part::kEvents)], 0);
  EXPECT_EQ(split[static_cast<size_t>(Part::kQueue)], 1);
}

TEST(LatencyMeter, TakeGivesWhatWasRecordedSince) {
  LatencyMeter meter;
  meter.Record(milliseconds(1));
  meter.Record(-milliseconds(1));
  const LatencyHistogram first = meter.Take();
  EXPECT_EQ(first.count(), 2u);
  EXPECT_EQ(first.min(), 0u) << "a clock that is a step ahead is no negative wait";
  EXPECT_EQ(meter.Take().count(), 0u);
}

TEST(AttemptBook, FindsASecondPopOnly) {
  AttemptBook book;
  book.Begin(7);
  book.End(7);
  book.Begin(7);
  book.Begin(3);
  EXPECT_EQ(book.doubled(), 0u);
  book.Begin(7);
  EXPECT_EQ(book.doubled(), 1u);
}

// Threads that bring the book new pods at the same time meet where it grows.
TEST(AttemptBook, GrowsWithoutAFalseAlarm) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kPods = 200'000;
  AttemptBook book;
  std::vector<std::jthread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&book, i] {
      for (uint64_t pod = i; pod < kPods; pod += kThreads) book.Begin(pod);
    });
  }
  threads.clear();
  EXPECT_EQ(book.doubled(), 0u);
  for (uint64_t pod = 0; pod < kPods; ++pod) book.Begin(pod);
  EXPECT_EQ(book.doubled(), kPods) << "each was kept";
}

// Only what leaves the pool while the thread handles a change counts, and from the change's
// delivery.
TEST(RequeueMeter, CountsFromTheDeliveryWhatLeavesThePool) {
  const WallPace pace;
  RequeueMeter meter(&pace);
  RequeueObserver observer;
  const auto moved = [&observer](Place from, Place to) {
    observer.OnMoved(nullptr, from, to, kNoLabel);
  };
  moved(Place::kUnschedulable, Place::kActive);
  EXPECT_EQ(meter.Take().count(), 0u);
  {
    const RequeueMeter::Handling handling(&meter, pace.Now() - milliseconds(20));
    moved(Place::kUnschedulable, Place::kActive);
    moved(Place::kGated, Place::kBackoff);
    moved(Place::kUnschedulable, Place::kGated);
    moved(Place::kUnschedulable, Place::kAbsent);
    moved(Place::kInFlight, Place::kActive);
    moved(Place::kAbsent, Place::kActive);
    std::jthread([&] { moved(Place::kUnschedulable, Place::kActive); }).join();
  }
  moved(Place::kUnschedulable, Place::kActive);
  const LatencyHistogram taken = meter.Take();
  EXPECT_EQ(taken.count(), 2u);
  EXPECT_GE(taken.min(), 20'000'000u);
  EXPECT_EQ(meter.Take().count(), 0u);
}

}  // namespace
}  // namespace schedq
