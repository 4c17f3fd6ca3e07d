// Goal: the shipped seam waits, wakes and numbers threads as its header says. Method: directed
// cases with real threads; nothing depends on how long a wait takes, only on that it ends.
#include "engine/base/atom.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "engine/base/metrics/metric_cells.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "tests/support/threads_at_once.h"

namespace schedq {
namespace {

using ShippedSeam = Seam<std::atomic>;

MonotonicTime InMilliseconds(int count) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(count);
}

TEST(Seam, WaitReturnsAtOnceOnAnotherValue) {
  const std::atomic<uint32_t> word{1};
  EXPECT_TRUE(ShippedSeam::Wait(word, 0, std::nullopt));
}

TEST(Seam, WaitEndsAtItsDeadline) {
  const std::atomic<uint32_t> word{0};
  const MonotonicTime deadline = InMilliseconds(2);
  while (ShippedSeam::Wait(word, 0, deadline)) {
  }
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  EXPECT_FALSE(ShippedSeam::Wait(word, 0, MonotonicTime::min()));
}

TEST(Seam, AWakeEndsTheWait) {
  std::atomic<uint32_t> word{0};
  std::vector<std::thread> waiters;
  for (int waiter = 0; waiter < 3; ++waiter) {
    waiters.emplace_back([&] {
      while (word.load() == 0) ShippedSeam::Wait(word, 0, std::nullopt);
    });
  }
  word.store(1);
  ShippedSeam::WakeOne(word);
  ShippedSeam::WakeAll(word);
  for (std::thread& waiter : waiters) waiter.join();
}

TEST(Seam, ThreadNumbersAreDenseAndUsedAgain) {
  const uint32_t mine = ShippedSeam::ThreadIndex();
  EXPECT_EQ(ShippedSeam::ThreadIndex(), mine);
  std::set<uint32_t> seen;
  for (int round = 0; round < 20; ++round) {
    std::thread([&] { seen.insert(ShippedSeam::ThreadIndex()); }).join();
  }
  EXPECT_EQ(seen.size(), 1u) << "one thread at a time needs one number";
  EXPECT_EQ(seen.count(mine), 0u);
}

TEST(Seam, LiveThreadsHaveNumbersOfTheirOwn) {
  constexpr uint32_t kThreads = 100;
  std::vector<uint32_t> numbers(kThreads);
  std::atomic<uint32_t> started{0};
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      numbers[thread] = ShippedSeam::ThreadIndex();
      for (started.fetch_add(1); started.load() < kThreads;) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<uint32_t>(numbers.begin(), numbers.end()).size(), kThreads);
  for (const uint32_t number : numbers) EXPECT_LE(number, kThreads);
}

TEST(Seam, MoreThreadsThanFourThousandHaveNumbersOfTheirOwn) {
  std::vector<uint32_t> numbers(kManyThreads);
  MetricCellBlock block(3);
  RunAtOnce(kManyThreads, /*one_after_another=*/false, [&](uint32_t thread) {
    numbers[thread] = ShippedSeam::ThreadIndex();
    block.At(2).Add(thread + 1);
  });
  EXPECT_EQ(std::set<uint32_t>(numbers.begin(), numbers.end()).size(), kManyThreads);
  EXPECT_EQ(block.At(2).Sum(), uint64_t{kManyThreads} * (kManyThreads + 1) / 2);
}

Result<int> Half(int value) {
  if (value % 2 != 0) return Error("value is odd, expected an even one");
  return value / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*Half(4), 2);
  EXPECT_FALSE(Half(3).ok());
  EXPECT_EQ(Half(3).error().message(), "value is odd, expected an even one");
  EXPECT_TRUE(Status::Ok().ok());
}

TEST(ResultDeathTest, ABrokenCheckSaysWhere) {
  EXPECT_DEATH(SCHEDQ_CHECK(1 == 2, "numbers drifted"), "atom_test.cc:.*numbers drifted");
}

}  // namespace
}  // namespace schedq
