// Goal: the stall harness passes lock-free operations and rejects blocking ones, on real threads.
// Method: counters and a stack without locks must pass round after round; the same counter behind a
// spin lock, a sleeping lock and std::mutex must each be rejected, because a thread frozen inside
// the lock stops the others. The controls give up soon; nothing else waits for a clock.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/faulty_structures.h"
#include "tests/support/stall/harness.h"
#include "tests/support/stall/locked.h"

namespace schedq {
namespace {

constexpr uint32_t kThreads = 3;

// Counts what each thread added, for a check at the end.
class TalliedSubject : public stall::Subject {
 public:
  std::string Check() override {
    uint64_t expected = 0;
    for (uint64_t tally : tallies_) expected += tally;
    const uint64_t found = Found();
    if (found == expected) return {};
    return "expected " + std::to_string(expected) + ", found " + std::to_string(found);
  }

 protected:
  virtual uint64_t Found() = 0;
  void Tally(uint32_t thread, uint64_t amount) { tallies_[thread] += amount; }

 private:
  std::vector<uint64_t> tallies_ = std::vector<uint64_t>(kThreads);  // each written by its thread
};

template <LockKind kLock>
class CounterSubject final : public TalliedSubject {
 public:
  void Operate(uint32_t thread, uint64_t) override {
    counter_.Add();
    Tally(thread, 1);
  }

 private:
  uint64_t Found() override { return counter_.Count(); }
  LockedCounter<stall::Atomic, kLock> counter_;
};

class StackSubject final : public TalliedSubject {
 public:
  void Operate(uint32_t thread, uint64_t turn) override {
    const int value = static_cast<int>(turn % 100);
    stack_.Push(value);
    Tally(thread, static_cast<uint64_t>(value));
    if (turn % 3 == 0) taken_.fetch_add(static_cast<uint64_t>(stack_.TakeAll()));
  }

 private:
  uint64_t Found() override { return taken_.load() + static_cast<uint64_t>(stack_.TakeAll()); }
  NodeStack<stall::Atomic> stack_;
  std::atomic<uint64_t> taken_{0};
};

template <typename Subject>
stall::Report RunStalls(stall::Options options) {
  options.threads = kThreads;
  return stall::Run(options, [] { return std::make_unique<Subject>(); });
}

TEST(StallTest, LockFreeOperationsGoOn) {
  const stall::Report counter = RunStalls<CounterSubject<LockKind::kNone>>({.rounds = 50});
  EXPECT_TRUE(counter.passed()) << counter;
  EXPECT_EQ(counter.rounds, 50u);
  EXPECT_EQ(counter.operations, 50u * 2 * 200);
  const stall::Report stack = RunStalls<StackSubject>({.rounds = 50});
  EXPECT_TRUE(stack.passed()) << stack;
  EXPECT_GT(stack.steps_seen, 10u) << stack;
}

template <typename Subject>
void ExpectRejected() {
  const stall::Report report =
      stall::RunControl(kThreads, [] { return std::make_unique<Subject>(); });
  EXPECT_FALSE(report.passed()) << report;
  EXPECT_NE(report.failure.find("while the victim was frozen"), std::string::npos) << report;
  EXPECT_LT(report.rounds, 100u) << report;
}

TEST(StallTest, SpinLockIsRejected) { ExpectRejected<CounterSubject<LockKind::kSpins>>(); }
TEST(StallTest, SleepingLockIsRejected) { ExpectRejected<CounterSubject<LockKind::kSleeps>>(); }
TEST(StallTest, MutexIsRejected) {
  ExpectRejected<stall::Locked<CounterSubject<LockKind::kNone>>>();
}

TEST(StallTest, SubjectWithoutAtomicStepsIsRejected) {
  class Idle final : public stall::Subject {
   public:
    void Operate(uint32_t, uint64_t) override {}
    std::string Check() override { return {}; }
  };
  EXPECT_FALSE(RunStalls<Idle>({}).passed());
}

}  // namespace
}  // namespace schedq
