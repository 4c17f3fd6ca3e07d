// Goal: under real threads no entry is lost or doubled, and each consumer sees what a strict queue
// allows; no consumer sleeps through a push.
// Method: producers and consumers run at full speed, with keys for the lanes, for the heap and for
// both; tickets are counted. While nothing is pushed, what a consumer pops must come in order. A
// last test lets consumers sleep on the event count, and every push must be popped.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/event_count.h"
#include "tests/support/small_shapes.h"

namespace schedq {
namespace {

constexpr uint64_t kThreads = 4;
constexpr uint64_t kPerThread = 20'000;

// Has more lanes, so that idle ones go out of use while others are busy.
struct SmallShape : SmallActiveQueueShape {
  static constexpr uint32_t kLanesAtOnce = 4;
  static constexpr uint32_t kLanesMax = 4;
};

template <typename Body>
void RunThreads(uint64_t count, Body body) {
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < count; ++thread) threads.emplace_back(body, thread);
  for (std::thread& thread : threads) thread.join();
}

// Which tickets came out, each at most once.
class Tally {
 public:
  explicit Tally(uint64_t tickets) : seen_(tickets) {}
  void Add(uint64_t ticket) { EXPECT_EQ(seen_.at(ticket).exchange(1), 0) << "popped twice"; }
  uint64_t Count() const {
    uint64_t count = 0;
    for (const auto& seen : seen_) count += seen.load();
    return count;
  }

 private:
  std::vector<std::atomic<uint8_t>> seen_;
};

template <typename Shape>
void ExpectConservation(uint64_t priorities) {
  const auto queue = std::make_unique<ActiveQueue<std::atomic, Shape>>();
  Tally tally(kThreads * kPerThread);
  RunThreads(kThreads, [&](uint64_t thread) {
    Random random(thread);
    for (uint64_t i = 0; i < kPerThread; ++i) {
      const auto late = static_cast<int64_t>(random.Below(8) == 0 ? random.Below(50) : 0);
      queue->Push({static_cast<int32_t>(random.Below(priorities)), static_cast<int64_t>(i) - late,
                   thread * kPerThread + i});
      if (random.Below(3) == 0) continue;
      if (const auto popped = queue->TryPop()) tally.Add(popped->ticket);
    }
  });
  // Nothing is pushed any more: each thread's pops come in order.
  RunThreads(kThreads, [&](uint64_t) {
    std::optional<ActiveEntry> before;
    while (const auto popped = queue->TryPop()) {
      EXPECT_FALSE(before && GoesBefore(*popped, *before));
      before = popped;
      tally.Add(popped->ticket);
    }
  });
  EXPECT_EQ(tally.Count(), kThreads * kPerThread);
  EXPECT_EQ(queue->Size(), 0u);
}

TEST(ActiveQueueStress, ConservesEntriesOfFewPriorities) {
  ExpectConservation<ActiveQueueShape>(8);
  ExpectConservation<SmallShape>(4);
}

TEST(ActiveQueueStress, ConservesEntriesOfManyPriorities) {
  ExpectConservation<ActiveQueueShape>(1'000'000);
  ExpectConservation<SmallShape>(1000);
}

// A thread pushes a high entry and then a low one. A thread that pops the low one while it is the
// only popper must have seen the high one before. A scan without validation gets this wrong.
TEST(ActiveQueueStress, LowEntryNeverOvertakesItsThreadsHighEntry) {
  ActiveQueue<std::atomic, SmallShape> queue;
  std::atomic<bool> is_done{false};
  std::thread consumer([&] {
    std::array<uint64_t, kThreads> highs{};
    bool is_last_look = false;
    for (;;) {
      const auto popped = queue.TryPop();
      if (!popped) {
        if (is_last_look) return;
        is_last_look = is_done.load();
        continue;
      }
      const uint64_t thread = popped->ticket / kPerThread;
      const uint64_t round = popped->ticket % kPerThread;
      if (popped->priority == 2) {
        highs[thread] = round + 1;
      } else {
        EXPECT_GT(highs[thread], round);
      }
    }
  });
  RunThreads(kThreads, [&](uint64_t thread) {
    for (uint64_t round = 0; round < kPerThread / 2; ++round) {
      const auto stamp = static_cast<int64_t>(round);
      queue.Push({2, stamp, thread * kPerThread + round});
      queue.Push({1, stamp, thread * kPerThread + round});
    }
  });
  is_done = true;
  consumer.join();
}

TEST(EventCountStress, NoConsumerSleepsThroughAPush) {
  constexpr uint64_t kEntries = 4000;
  constexpr uint64_t kStop = kEntries;
  ActiveQueue<> queue;
  EventCount<> event_count;
  Tally tally(kEntries);
  const auto pop = [&] {
    for (;;) {
      if (const auto popped = queue.TryPop()) return *popped;
      const auto ticket = event_count.PrepareWait();
      if (const auto popped = queue.TryPop()) {
        event_count.CancelWait();
        return *popped;
      }
      event_count.CommitWait(ticket, std::nullopt);
    }
  };
  std::thread producer([&] {
    for (uint64_t i = 0; i < kEntries; ++i) {
      queue.Push({1, static_cast<int64_t>(i), i});
      event_count.NotifyOne();
      if (i % 64 == 0) std::this_thread::yield();
    }
    // One stop for each consumer, after all entries.
    for (uint64_t i = 0; i < kThreads; ++i) {
      queue.Push({0, 0, kStop});
      event_count.NotifyOne();
    }
  });
  RunThreads(kThreads, [&](uint64_t) {
    for (;;) {
      const ActiveEntry popped = pop();
      if (popped.ticket == kStop) return;
      tally.Add(popped.ticket);
    }
  });
  producer.join();
  EXPECT_EQ(tally.Count(), kEntries);
  EXPECT_EQ(event_count.Waiters(), 0u);
}

}  // namespace
}  // namespace schedq
