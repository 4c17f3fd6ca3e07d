// Goal: while stale tickets are dropped under real threads, every pod that was not given up is
// taken once, and what is left comes in the order that a strict queue demands.
// Method: threads push, give up, pop and drop at full speed, on queues whose memory is used again
// after a few entries; entries that are taken or given up are counted. Then nothing is pushed or
// dropped any more, and what each thread pops must come in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "tests/support/small_shapes.h"

namespace schedq {
namespace {

constexpr uint64_t kThreads = 4;
constexpr uint64_t kPerThread = 10'000;

class StaleStress {
 public:
  // Mostly pushes, so that there is much to look through.
  void Work(uint64_t thread, uint64_t priorities) {
    Random random(thread);
    for (uint64_t i = 0; i < kPerThread; ++i) {
      const uint64_t ticket = thread * kPerThread + i;
      const auto late = static_cast<int64_t>(random.Below(8) == 0 ? random.Below(50) : 0);
      queue_.Push(
          {static_cast<int32_t>(random.Below(priorities)), static_cast<int64_t>(i) - late, ticket});
      // An own one, which another thread may take just now.
      if (random.Below(2) == 0)
        given_up_ += End(ticket - random.Below(std::min<uint64_t>(i + 1, 9)));
      if (random.Below(3) == 0) Drop(random);
      if (random.Below(4) == 0) Pop();
    }
  }
  // Without pushes, those of one thread come in order.
  void Drain() {
    std::optional<ActiveEntry> before;
    while (const std::optional<ActiveEntry> popped = Pop()) {
      EXPECT_FALSE(before && GoesBefore(*popped, *before));
      before = popped;
    }
  }
  void ExpectAllEndedOnce() const {
    EXPECT_EQ(popped_.load() + given_up_.load(), kThreads * kPerThread);
    EXPECT_GT(given_up_.load(), kThreads * kPerThread / 10);
    EXPECT_EQ(queue_.Size(), 0u);
  }

 private:
  // 1 for the thread that ends it.
  uint32_t End(uint64_t ticket) { return is_gone_[ticket].exchange(1) == 0 ? 1 : 0; }
  void Drop(Random& random) {
    queue_.DropStale(random.Next(),
                     [this](uint64_t ticket) { return is_gone_[ticket].load() != 0; });
  }
  std::optional<ActiveEntry> Pop() {
    std::optional<ActiveEntry> popped = queue_.TryPop();
    while (popped && End(popped->ticket) == 0) popped = queue_.TryPop();
    if (popped) popped_.fetch_add(1);
    return popped;
  }

  ActiveQueue<std::atomic, SmallActiveQueueShape> queue_;
  std::vector<std::atomic<uint8_t>> is_gone_ =
      std::vector<std::atomic<uint8_t>>(kThreads * kPerThread);
  std::atomic<uint64_t> popped_{0};
  std::atomic<uint64_t> given_up_{0};
};

template <typename Body>
void RunThreads(const Body& body) {
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(body, thread);
  for (std::thread& thread : threads) thread.join();
}

void ExpectConservation(uint64_t priorities) {
  StaleStress stress;
  RunThreads([&](uint64_t thread) { stress.Work(thread, priorities); });
  RunThreads([&](uint64_t) { stress.Drain(); });
  stress.ExpectAllEndedOnce();
}

TEST(StaleTicketsStress, InLanes) { ExpectConservation(2); }
TEST(StaleTicketsStress, InTheHeap) { ExpectConservation(1'000'000); }
TEST(StaleTicketsStress, InBoth) { ExpectConservation(5); }

}  // namespace
}  // namespace schedq
