// Goal: tasks side by side are each done once, begin in order, end before the caller goes on, and
// their failures reach the caller.
// Method: tasks that note what they see; tasks that wait for each other, which one job would not
// survive.
#include "bench/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace schedq {
namespace {

TEST(SideBySideTest, DoesEachTaskOnceAndReturnsAfterAll) {
  for (const size_t jobs : {size_t{1}, size_t{2}, size_t{7}, size_t{64}}) {
    constexpr size_t kCount = 50;
    std::vector<int> times(kCount);
    DoSideBySide(kCount, jobs, [&](size_t number) { ++times[number]; });
    EXPECT_THAT(times, testing::Each(1)) << jobs;
  }
  DoSideBySide(0, 4, [](size_t) { FAIL() << "there is no task"; });
}

TEST(SideBySideTest, OneJobIsTheCallerAloneInOrder) {
  std::vector<size_t> order;
  DoSideBySide(5, 1, [&, caller = std::this_thread::get_id()](size_t number) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(number);
  });
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(SideBySideTest, TasksBeginInTheirOrder) {
  std::mutex mutex;
  std::vector<size_t> begun;
  std::atomic<size_t> under_way{0};
  DoSideBySide(200, 3, [&](size_t number) {
    EXPECT_LE(++under_way, 3u);
    {
      const std::lock_guard lock(mutex);
      begun.push_back(number);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    --under_way;
  });
  // A thread may be set aside between taking its number and noting it: by no more than the others.
  for (size_t i = 0; i < begun.size(); ++i) {
    size_t later = 0;
    for (size_t j = 0; j < i; ++j) later += begun[j] > begun[i] ? 1 : 0;
    EXPECT_LE(later, begun.size() / 2) << i;
  }
}

// More jobs than processors: each task waits until all have begun.
TEST(SideBySideTest, AsManyAreUnderWayAsThereAreJobs) {
  constexpr size_t kJobs = 5;
  std::atomic<size_t> begun{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  DoSideBySide(kJobs, kJobs, [&](size_t) {
    ++begun;
    while (begun < kJobs && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  EXPECT_EQ(begun, kJobs);
  EXPECT_LT(std::chrono::steady_clock::now(), deadline) << "fewer were under way";
}

TEST(SideBySideTest, AFailureReachesTheCallerAndNoTaskBeginsAfterIt) {
  for (const size_t jobs : {size_t{1}, size_t{3}}) {
    std::atomic<size_t> begun{0};
    std::atomic<size_t> ended{0};
    EXPECT_THROW(DoSideBySide(100'000, jobs,
                              [&](size_t number) {
                                ++begun;
                                if (number == 7) throw std::runtime_error("seven");
                                ++ended;
                              }),
                 std::runtime_error);
    EXPECT_EQ(begun, ended + 1) << "those that began have ended";
    EXPECT_LT(begun, 100'000u);
  }
}

}  // namespace
}  // namespace schedq
