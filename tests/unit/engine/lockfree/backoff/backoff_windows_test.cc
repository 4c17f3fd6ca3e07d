// Goal: what backs off comes out in the order of its seconds and in few steps, also where seconds
// lie farther apart than the ring has windows.
// Method: one thread, a small ring against an ordered map: random pushes, early pops and flushes
// whose seconds lie within the ring, or far beyond it. And two seconds as far apart as time goes,
// between which nobody could walk.
#include "engine/lockfree/backoff/backoff_windows.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"

namespace schedq {
namespace {

struct FourWindows : BackoffWindowsShape {
  static constexpr int64_t kWindows = 4;
};

class WindowsDifferential {
 public:
  explicit WindowsDifferential(int64_t farthest) : farthest_(farthest) {}

  void Run(int operations) {
    for (int i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
      const uint64_t kind = random_.Below(8);
      if (kind < 4) {
        Push();
      } else if (kind < 7) {
        Pop();
      } else {
        now_ += random_.Between(0, 3);
        Flush(now_);
      }
    }
    Flush(now_ + farthest_ + 1);
    EXPECT_TRUE(waiting_.empty());
    Pop();
  }

 private:
  void Push() {
    const int64_t second =
        now_ + (random_.Chance(0.7) ? random_.Between(0, 3) : random_.Between(0, farthest_));
    windows_.Push(second, {static_cast<int32_t>(random_.Below(3)), ++pushed_, pushed_ticket()});
    waiting_.emplace(second, pushed_ticket());
  }
  uint64_t pushed_ticket() const { return static_cast<uint64_t>(pushed_); }

  void Pop() {
    TakesEntry taker;
    const EarlyPop outcome = windows_.TryTakeFirst([] { return true; }, taker);
    ASSERT_EQ(outcome, waiting_.empty() ? EarlyPop::kEmpty : EarlyPop::kTaken);
    if (!waiting_.empty()) Remove(taker.entry.ticket, waiting_.begin()->first);
  }
  void Flush(int64_t cutoff) {
    const auto take = [&](uint64_t ticket) { Remove(ticket, cutoff - 1); };
    const auto take_run = [&](std::span<ActiveEntry> run) {
      for (const ActiveEntry& entry : run) take(entry.ticket);
    };
    windows_.Flush(cutoff, take_run, take);
    ASSERT_TRUE(waiting_.empty() || waiting_.begin()->first >= cutoff);
  }
  void Remove(uint64_t ticket, int64_t latest) {
    for (auto it = waiting_.begin(); it != waiting_.end() && it->first <= latest; ++it) {
      if (it->second != ticket) continue;
      waiting_.erase(it);
      return;
    }
    FAIL() << "ticket " << ticket << " comes before its turn, or for the second time";
  }

  const int64_t farthest_;
  Random random_{11};
  BackoffWindows<std::atomic, FourWindows> windows_;
  std::multimap<int64_t, uint64_t> waiting_;  // Tickets by second.
  int64_t now_ = 1000;
  int64_t pushed_ = 0;
};

TEST(BackoffWindows, ComeOutInTheOrderOfTheirSeconds) { WindowsDifferential(3).Run(20'000); }
TEST(BackoffWindows, ComeOutInOrderBeyondTheRing) {
  WindowsDifferential(20).Run(20'000);
  WindowsDifferential(5000).Run(20'000);
}

// As many pods fail together again and again, and each time another window takes them.
TEST(BackoffWindows, ShareTheMemoryOfTheirRuns) {
  using Shape = BackoffWindowsShape;
  constexpr int64_t kPods = 50 * Shape::Window::kSegmentEntries;
  BackoffWindows<std::atomic> windows;
  int64_t flushed = 0;
  const auto take_run = [&](std::span<ActiveEntry> run) {
    flushed += static_cast<int64_t>(run.size());
  };
  for (int64_t second = 1; second <= Shape::kWindows; ++second) {
    for (int64_t pod = 1; pod <= kPods; ++pod) {
      windows.Push(second, {0, second * kPods + pod, static_cast<uint64_t>(pod)});
    }
    windows.Flush(second + 1, take_run, [&](uint64_t) { ++flushed; });
  }
  EXPECT_EQ(flushed, Shape::kWindows * kPods);
  // What one burst needs, and the segment that each window begins its run with.
  EXPECT_LE(windows.Segments(), 50 + 2 + Shape::kWindows);
}

TEST(BackoffWindows, NobodyWalksToAFarOffSecond) {
  constexpr int64_t kNow = 1'767'225'600;
  constexpr int64_t kFarOff = 9'000'000'000;  // About what fits into an Instant.
  BackoffWindows<std::atomic> windows;
  windows.Push(kFarOff, {1, 1, 1});
  windows.Push(kNow, {1, 2, 2});
  TakesEntry taker;
  const auto pop = [&] { return windows.TryTakeFirst([] { return true; }, taker); };
  ASSERT_EQ(pop(), EarlyPop::kTaken);
  EXPECT_EQ(taker.entry.ticket, 2u);
  ASSERT_EQ(pop(), EarlyPop::kTaken);
  EXPECT_EQ(taker.entry.ticket, 1u);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(pop(), EarlyPop::kEmpty);
  windows.Push(kFarOff, {1, 3, 3});
  uint64_t flushed = 0;
  const auto take_run = [&](std::span<ActiveEntry> run) { flushed += run.size(); };
  windows.Flush(kFarOff + 1, take_run, [&](uint64_t) { ++flushed; });
  EXPECT_EQ(flushed, 1u);
}

}  // namespace
}  // namespace schedq
