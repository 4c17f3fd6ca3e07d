// Goal: the active queue and the backoff windows take every entry, however many there are; where a
// part has no room an entry goes to another one, which grows. Method: dimensions that are met at
// once, against an ordered set; and once the shipped ones, at sizes that used to end the program.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/active/quick_heap.h"
#include "engine/lockfree/active/sorted_run.h"
#include "engine/lockfree/backoff/backoff_windows.h"
#include "tests/support/small_shapes.h"

namespace schedq {
namespace {

struct Earlier {
  bool operator()(const ActiveEntry& a, const ActiveEntry& b) const { return GoesBefore(a, b); }
};
using Judge = std::multiset<ActiveEntry, Earlier>;

template <typename Queue>
void ExpectPop(Queue& queue, Judge& judge) {
  const std::optional<ActiveEntry> popped = queue.TryPop();
  ASSERT_EQ(popped.has_value(), !judge.empty());
  if (!popped) return;
  EXPECT_EQ(popped->priority, judge.begin()->priority);
  EXPECT_EQ(popped->timestamp_ns, judge.begin()->timestamp_ns);
  judge.erase(judge.begin());
}

// A directory of 2^14 buckets was once the most.
TEST(ActiveLimits, TheHeapsDirectoryGrows) {
  ActiveQueue<std::atomic, SmallActiveQueueShape> queue;
  QuickHeap<std::atomic, SmallActiveQueueShape> heap;
  Random random(5);
  Judge judge;
  for (uint64_t i = 0; i < 250'000; ++i) {
    const ActiveEntry entry{static_cast<int32_t>(random.Below(1'000'000'000)), 0, i};
    queue.Push(entry);
    heap.Push(entry);
    judge.insert(entry);
  }
  EXPECT_GT(heap.BucketCount(), uint64_t{1} << 14);
  while (!judge.empty() && !testing::Test::HasFailure()) ExpectPop(queue, judge);
  ExpectPop(queue, judge);
}

struct ThreeSegments : SmallActiveQueueShape {
  static constexpr uint32_t kSegmentsMax = 3;
};

// Entries that would suit a run: their number alone is too large.
TEST(ActiveLimits, WhatFindsNoSegmentGoesToTheHeap) {
  using Queue = ActiveQueue<std::atomic, ThreeSegments>;
  Queue::Segments segments(/*first_bits=*/0, ThreeSegments::kSegmentsMax);
  Queue queue(segments);
  Random random(7);
  Judge judge;
  int64_t now = 0;
  for (int round = 0; round < 2'000 && !testing::Test::HasFailure(); ++round) {
    // Some groups are longer than all segments together.
    std::vector<ActiveEntry> group(random.Below(20) + 1);
    for (ActiveEntry& entry : group) entry = {round % 2, ++now, static_cast<uint64_t>(now)};
    queue.PushRun(group.data(), group.size());
    judge.insert(group.begin(), group.end());
    ASSERT_EQ(queue.Size(), judge.size());
    const uint64_t pops = random.Chance(0.1) ? judge.size() : random.Below(20);
    for (uint64_t i = 0; i < pops; ++i) ExpectPop(queue, judge);
  }
  EXPECT_EQ(segments.Used(), ThreeSegments::kSegmentsMax);
  while (!judge.empty() && !testing::Test::HasFailure()) ExpectPop(queue, judge);
  ExpectPop(queue, judge);
}

// What an append linked before it was refused is there for the next one.
TEST(ActiveLimits, ARefusedAppendGivesBackItsSegments) {
  using Run = SortedRun<std::atomic, 4>;
  Run::Pool pool(/*first_bits=*/0, /*limit=*/4);
  Run run;
  std::vector<ActiveEntry> entries;
  for (int64_t i = 0; i < 16; ++i) entries.push_back({0, i, static_cast<uint64_t>(i)});
  EXPECT_EQ(run.TryAppend(pool, entries.data(), 16), AppendOutcome::kFull);
  EXPECT_TRUE(run.Look().IsEmpty());
  EXPECT_EQ(run.TryAppend(pool, entries.data(), 15), AppendOutcome::kAppended);
  EXPECT_EQ(run.TryAppend(pool, entries.data() + 15, 1), AppendOutcome::kFull);
  EXPECT_EQ(run.Look().Size(), 15u);
  ASSERT_TRUE(run.TryDropMany(pool, run.Look(), 4));
  EXPECT_EQ(run.TryAppend(pool, entries.data() + 15, 1), AppendOutcome::kAppended);
  EXPECT_EQ(run.TimestampAt(pool, run.Look()), 4);
}

// More than 2.8 million once ended the program.
TEST(ActiveLimits, ThreeMillionUnsortedEntriesBackOffToOneSecond) {
  constexpr uint64_t kEntries = 3'000'000;
  BackoffWindows<std::atomic> windows;
  Random random(9);
  for (uint64_t i = 0; i < kEntries; ++i) {
    windows.Push(7, {0, static_cast<int64_t>(random.Below(uint64_t{1} << 40)), i});
  }
  uint64_t flushed = 0;
  int64_t last_ns = -1;
  bool is_sorted = true;
  const auto move_run = [&](std::span<ActiveEntry> run) {
    for (const ActiveEntry& entry : run) {
      is_sorted = is_sorted && entry.timestamp_ns >= last_ns;
      last_ns = entry.timestamp_ns;
    }
    flushed += run.size();
  };
  windows.Flush(8, move_run, [&](uint64_t) { ++flushed; });
  EXPECT_EQ(flushed, kEntries);
  EXPECT_TRUE(is_sorted);
}

}  // namespace
}  // namespace schedq
