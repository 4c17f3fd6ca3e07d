// Goal: on one thread the active queue does exactly what std::priority_queue does, whatever the
// keys are like.
// Method: random pushes and pops on both, in phases that fill and drain; keys of each kind that the
// queue treats differently; on the shipped dimensions and on small ones that meet every border.
#include "engine/lockfree/active/active_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/quick_heap.h"
#include "tests/support/small_shapes.h"

namespace schedq {
namespace {

struct GoesAfter {
  bool operator()(const ActiveEntry& a, const ActiveEntry& b) const { return GoesBefore(b, a); }
};
using Judge = std::priority_queue<ActiveEntry, std::vector<ActiveEntry>, GoesAfter>;

// Has more lanes than can be in use at once.
struct SmallShape : SmallActiveQueueShape {
  static constexpr uint32_t kLanesMax = 4;
  static constexpr uint32_t kPopsPerSweep = 4;
};

using DrawKey = std::function<ActiveEntry(Random&, int64_t number)>;

template <typename Shape>
class Differential {
 public:
  explicit Differential(DrawKey draw) : draw_(std::move(draw)) {}

  void Run(int64_t operations) {
    constexpr int64_t kPhase = 3000;
    for (int64_t i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
      // Phases that fill, that keep the size, and that drain.
      const uint64_t pushes_in_ten = i / kPhase % 3 == 0 ? 7 : i / kPhase % 3 == 1 ? 5 : 3;
      if (random_.Below(10) < pushes_in_ten) {
        Push(i);
      } else {
        Pop();
      }
      if (i % 512 == 0) {
        EXPECT_EQ(queue_->Size(), judge_.size()) << "operation " << i;
      }
    }
    while (!judge_.empty() && !testing::Test::HasFailure()) Pop();
    Pop();  // Of an empty queue.
  }

 private:
  void Push(int64_t number) {
    ActiveEntry entry = draw_(random_, number);
    entry.ticket = static_cast<uint64_t>(number);
    queue_->Push(entry);
    judge_.push(entry);
  }

  void MoveSome() {
    const bool was_empty = judge_.empty();
    std::array<ActiveEntry, 7> room;
    const auto is_any = [](const ActiveEntry&) { return true; };
    size_t moved = 0;
    const size_t count = queue_->MoveFirst(room, is_any, [&](std::span<ActiveEntry> shown) {
      for (const ActiveEntry& entry : shown) CheckPopped(entry);
      moved = shown.size();
    });
    ASSERT_EQ(count, moved);
    ASSERT_EQ(count == 0, was_empty);
  }

  void Pop() {
    if (random_.Below(4) == 0) return MoveSome();
    const std::optional<ActiveEntry> popped = queue_->TryPop();
    ASSERT_EQ(popped.has_value(), !judge_.empty());
    if (popped) CheckPopped(*popped);
  }

  // Of equal keys either may come.
  void CheckPopped(const ActiveEntry& popped) {
    ASSERT_FALSE(judge_.empty());
    EXPECT_EQ(popped.priority, judge_.top().priority);
    EXPECT_EQ(popped.timestamp_ns, judge_.top().timestamp_ns);
    judge_.pop();
  }

  DrawKey draw_;
  Random random_{7};
  std::unique_ptr<ActiveQueue<std::atomic, Shape>> queue_ =
      std::make_unique<ActiveQueue<std::atomic, Shape>>();
  Judge judge_;
};

void ExpectLikeAPriorityQueue(const DrawKey& draw) {
  Differential<ActiveQueueShape>(draw).Run(40'000);
  Differential<SmallShape>(draw).Run(20'000);
}

int32_t RandomPriority(Random& random) {
  return static_cast<int32_t>(static_cast<uint32_t>(random.Next()));
}

TEST(ActiveQueueTest, OnePriority) {
  ExpectLikeAPriorityQueue([](Random&, int64_t number) { return ActiveEntry{5, number, 0}; });
}

TEST(ActiveQueueTest, EightPriorities) {
  ExpectLikeAPriorityQueue([](Random& random, int64_t number) {
    return ActiveEntry{static_cast<int32_t>(random.Below(8)) * 1000, number, 0};
  });
}

TEST(ActiveQueueTest, FiftyPrioritiesNearlySorted) {
  ExpectLikeAPriorityQueue([](Random& random, int64_t number) {
    const auto late = static_cast<int64_t>(random.Below(20));
    return ActiveEntry{static_cast<int32_t>(random.Below(50)) - 25, number - late, 0};
  });
}

TEST(ActiveQueueTest, RandomPriorities) {
  ExpectLikeAPriorityQueue([](Random& random, int64_t number) {
    return ActiveEntry{RandomPriority(random), number, 0};
  });
}

TEST(ActiveQueueTest, RandomTimestampsWithinEightPriorities) {
  ExpectLikeAPriorityQueue([](Random& random, int64_t) {
    return ActiveEntry{static_cast<int32_t>(random.Below(8)), static_cast<int64_t>(random.Next()),
                       0};
  });
}

TEST(ActiveQueueTest, FallingAndRisingPriorities) {
  ExpectLikeAPriorityQueue([](Random&, int64_t number) {
    return ActiveEntry{static_cast<int32_t>(number), number, 0};
  });
  ExpectLikeAPriorityQueue([](Random&, int64_t number) {
    return ActiveEntry{static_cast<int32_t>(-number), number, 0};
  });
}

TEST(ActiveQueueTest, EqualKeys) {
  ExpectLikeAPriorityQueue([](Random& random, int64_t) {
    return ActiveEntry{static_cast<int32_t>(random.Below(100)), 42, 0};
  });
}

TEST(ActiveQueueTest, ExtremeKeys) {
  ExpectLikeAPriorityQueue([](Random& random, int64_t) {
    constexpr int32_t kPriorities[] = {std::numeric_limits<int32_t>::min(), -1, 0, 1,
                                       std::numeric_limits<int32_t>::max()};
    constexpr int64_t kTimes[] = {std::numeric_limits<int64_t>::min(), -1, 0, 1,
                                  std::numeric_limits<int64_t>::max()};
    return ActiveEntry{kPriorities[random.Below(5)], kTimes[random.Below(5)], 0};
  });
}

// A flushed backoff window: older than what is there, sorted, several priorities.
TEST(ActiveQueueTest, RunsGoInWhole) {
  ActiveQueue<std::atomic, SmallShape> queue;
  Judge judge;
  Random random(3);
  for (int64_t window = 0; window < 30; ++window) {
    std::vector<ActiveEntry> run;
    for (int i = 0; i < 50; ++i) {
      run.push_back({static_cast<int32_t>(random.Below(6)),
                     window * 100 - static_cast<int64_t>(random.Below(1000)), random.Next()});
    }
    std::sort(run.begin(), run.end(), GoesBefore);
    queue.PushRun(run.data(), run.size());
    for (const ActiveEntry& entry : run) judge.push(entry);
    for (int i = 0; i < 20; ++i, judge.pop()) {
      const auto popped = queue.TryPop();
      ASSERT_TRUE(popped.has_value());
      EXPECT_EQ(popped->priority, judge.top().priority);
      EXPECT_EQ(popped->timestamp_ns, judge.top().timestamp_ns);
    }
  }
  EXPECT_EQ(queue.Size(), judge.size());
}

TEST(ActiveQueueTest, EntriesComeOutWhole) {
  ActiveQueue<> queue;
  const ActiveEntry entry{-3, 17, 0xfedcba9876543210};
  queue.Push(entry);
  EXPECT_EQ(queue.TryPop(), entry);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
}

// Each entry goes before all that are there, so that all go through the heap's front. Were what it
// gives to a bucket not put together, there would be a bucket for each few entries.
TEST(QuickHeap, RisingPrioritiesFillTheirBuckets) {
  constexpr int32_t kEntries = 32 * SmallShape::kBucketEntries;
  QuickHeap<std::atomic, SmallShape> heap;
  for (int32_t i = 0; i < kEntries; ++i) heap.Push({i, 0, static_cast<uint64_t>(i)});
  EXPECT_EQ(heap.Size(), uint64_t{kEntries});
  EXPECT_LE(heap.BucketCount(), 64u);
}

}  // namespace
}  // namespace schedq
