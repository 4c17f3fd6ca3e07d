// Goal: whole histories of the active queue under real threads are linearizable: no pop gives an
// entry while a better one is there all the time, none finds nothing while there is something, and
// no entry is lost or doubled.
// Method: threads push and pop at random; each call is recorded with its times, and all calls are
// judged as one history (tests/support/checkers/priority_judge.h). Once with the shipped atomics
// and shape, and once with small dimensions and threads that yield within operations. Histories
// that were tampered with must be refused. SCHEDQ_HISTORY_OPERATIONS=10000000 makes long ones.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "tests/stress/history_stress.h"
#include "tests/support/checkers/priority_judge.h"
#include "tests/support/checkers/timed_calls.h"
#include "tests/support/checkers/yielding.h"
#include "tests/support/small_shapes.h"
#include "tests/support/stall/atomic.h"

namespace schedq {
namespace {

constexpr uint32_t kTicketShift = 40;
constexpr size_t kRunMax = 4;

// One thread's operations on a queue.
template <typename Queue>
class QueueUser {
 public:
  QueueUser(Queue* queue, uint32_t thread, uint64_t priorities, TimedCalls* calls)
      : queue_(queue),
        priorities_(priorities),
        calls_(calls),
        choice_(thread + 1),
        next_ticket_(uint64_t{thread} << kTicketShift) {}

  void Run(uint64_t operations) {
    while (calls_->calls().size() < operations) {
      if (!choice_.DrawPush()) {
        calls_->Pop([&] { return queue_->TryPop(); });
      } else if (choice_.random().Below(16) == 0) {
        PushRun();
      } else {
        const ActiveEntry entry = NextEntry();
        calls_->Push(entry, [&] { queue_->Push(entry); });
      }
    }
  }

 private:
  ActiveEntry NextEntry() {
    Random& random = choice_.random();
    const auto late = static_cast<int64_t>(random.Below(8) == 0 ? random.Below(50) : 0);
    ++time_;
    return {static_cast<int32_t>(random.Below(priorities_)), time_ - late, next_ticket_++};
  }
  void PushRun() {
    std::array<ActiveEntry, kRunMax> run;
    const size_t count = 1 + choice_.random().Below(kRunMax);
    run[0] = NextEntry();
    for (size_t i = 1; i < count; ++i) {
      run[i] = run[i - 1];
      run[i].timestamp_ns += static_cast<int64_t>(choice_.random().Below(3));
      run[i].ticket = next_ticket_++;
    }
    calls_->PushRun(run.data(), count, [&] { queue_->PushRun(run.data(), count); });
  }

  Queue* const queue_;
  const uint64_t priorities_;
  TimedCalls* const calls_;
  PushOrPop choice_;
  uint64_t next_ticket_;
  int64_t time_ = 0;
};

template <typename Queue>
void Drain(Queue* queue, TimedCalls* calls) {
  while (calls->Pop([&] { return queue->TryPop(); })) {
  }
}

class ActiveHistoryStress : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Threads, ActiveHistoryStress, testing::Values(2, 4, 8));

TEST_P(ActiveHistoryStress, ShippedQueueIsLinearizable) {
  const auto queue = std::make_unique<ActiveQueue<>>();
  ExpectHistoryHolds(JudgeThreads(
                         GetParam(),
                         [&](uint32_t thread, uint64_t operations, TimedCalls* calls) {
                           QueueUser(queue.get(), thread, /*priorities=*/12, calls).Run(operations);
                         },
                         [&](TimedCalls* calls) { Drain(queue.get(), calls); }),
                     /*must_overlap=*/false);
}

TEST_P(ActiveHistoryStress, SmallQueueIsLinearizableWhereverItsThreadsYield) {
  const auto queue = std::make_unique<ActiveQueue<stall::Atomic, SmallActiveQueueShape>>();
  ExpectHistoryHolds(JudgeThreads(
                         GetParam(),
                         [&](uint32_t thread, uint64_t operations, TimedCalls* calls) {
                           const Yielding yielding(thread, kStepsPerYield);
                           QueueUser(queue.get(), thread, /*priorities=*/5, calls).Run(operations);
                         },
                         [&](TimedCalls* calls) { Drain(queue.get(), calls); }),
                     /*must_overlap=*/true);
}

// Looks at no word for the second time.
template <template <typename> class Atom, uint32_t kWordsMax>
class TrustingCollect {
 public:
  void Clear() {}
  void Add(const Atom<uint64_t>&, uint64_t) {}
  bool StillHolds() const { return true; }
};

// A queue whose pops do not collect twice: the classic error.
TEST(ActiveHistoryStressCanary, QueueThatTrustsOneCollectIsCaught) {
  using Faulty = ActiveQueue<stall::Atomic, SmallActiveQueueShape, TrustingCollect>;
  constexpr int kHistoriesMax = 100;
  bool holds = true;
  for (int i = 0; i < kHistoriesMax && holds; ++i) {
    const auto queue = std::make_unique<Faulty>();
    holds = JudgeThreads(
                4,
                [&](uint32_t thread, uint64_t operations, TimedCalls* calls) {
                  const Yielding yielding(thread, kStepsPerYield / 8);
                  QueueUser(queue.get(), thread, /*priorities=*/5, calls).Run(operations);
                },
                [&](TimedCalls* calls) { Drain(queue.get(), calls); })
                .holds;
  }
  EXPECT_FALSE(holds);
}

// What one thread does is right, and each damage makes it wrong.
class TamperedHistory : public testing::Test {
 protected:
  void SetUp() override {
    ActiveQueue<> queue;
    for (uint64_t i = 0; i < kEntries; ++i) {
      const ActiveEntry entry{static_cast<int32_t>(i % 7), static_cast<int64_t>(i), i};
      calls_.Push(entry, [&] { queue.Push(entry); });
    }
    Drain(&queue, &calls_);
    ASSERT_TRUE(Holds());
  }
  bool Holds() const {
    const std::vector<const std::vector<TimedCall>*> threads = {&calls_.calls()};
    return JudgePriorityHistory(threads).holds;
  }
  TimedCall& PopNumber(size_t number) { return calls_.calls()[kEntries + number]; }

  static constexpr uint64_t kEntries = 1000;
  TimedCalls calls_{2 * kEntries + 1};
};

TEST_F(TamperedHistory, LowerPriorityThatIsPoppedFirstIsRefused) {
  std::swap(PopNumber(100).entry, PopNumber(900).entry);
  EXPECT_FALSE(Holds());
}
TEST_F(TamperedHistory, EmptyPopAmidEntriesIsRefused) {
  PopNumber(500).kind = TimedCall::Kind::kPopNothing;
  EXPECT_FALSE(Holds());
}
TEST_F(TamperedHistory, DoubledTicketIsRefused) {
  PopNumber(kEntries) = PopNumber(kEntries - 1);
  EXPECT_FALSE(Holds());
}
TEST_F(TamperedHistory, LostTicketIsRefused) {
  calls_.calls().erase(calls_.calls().begin() + kEntries + 500);
  EXPECT_FALSE(Holds());
}

}  // namespace
}  // namespace schedq
