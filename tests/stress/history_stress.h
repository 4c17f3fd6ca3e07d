// What the stress tests share that judge whole histories.
//
// SCHEDQ_HISTORY_OPERATIONS is the number of operations of each history, instead of the few of
// continuous integration.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/sanitizers.h"
#include "tests/support/checkers/priority_judge.h"
#include "tests/support/checkers/timed_calls.h"

namespace schedq {

inline uint64_t HistoryOperations() {
#ifdef SCHEDQ_THREAD_SANITIZER
  constexpr uint64_t kUsual = 20'000;  // Each atomic operation costs ten times as much.
#else
  constexpr uint64_t kUsual = 60'000;
#endif
  const char* const wanted = std::getenv("SCHEDQ_HISTORY_OPERATIONS");
  return wanted == nullptr ? kUsual : std::strtoull(wanted, nullptr, 10);
}

// Where threads yield within operations. On a busy machine a thread comes back after milliseconds.
inline constexpr uint64_t kStepsPerYield = 4000;

// A thread's choices. For a while it pushes more than it pops, then the other way round, so that
// the queue is deep, shallow and empty in turn.
class PushOrPop {
 public:
  explicit PushOrPop(uint64_t seed) : random_(seed) {}
  bool DrawPush() {
    if (random_.Below(256) == 0) pushes_in_eight_ = 2 + random_.Below(4);
    return random_.Below(8) < pushes_in_eight_;
  }
  Random& random() { return random_; }

 private:
  Random random_;
  uint64_t pushes_in_eight_ = 4;
};

// Runs `act(thread, operations, calls)` in so many threads at one time, then `drain(calls)`, which
// pops all that is left, and judges all calls as one history.
template <typename Act, typename Drain>
PriorityVerdict JudgeThreads(uint32_t threads, const Act& act, const Drain& drain) {
  const uint64_t operations = HistoryOperations() / threads;
  std::vector<std::unique_ptr<TimedCalls>> calls;
  for (uint32_t thread = 0; thread <= threads; ++thread) {
    calls.push_back(std::make_unique<TimedCalls>(operations + operations / 8));
  }
  std::atomic<uint32_t> arrived{0};
  std::vector<std::thread> running;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      arrived.fetch_add(1);
      while (arrived.load() < threads) std::this_thread::yield();
      act(thread, operations, calls[thread].get());
    });
  }
  for (std::thread& thread : running) thread.join();
  drain(calls[threads].get());
  std::vector<const std::vector<TimedCall>*> histories;
  for (const auto& one : calls) histories.push_back(&one->calls());
  return JudgePriorityHistory(histories);
}

// The history holds, and has what a judge can say something about.
inline void ExpectHistoryHolds(const PriorityVerdict& verdict, bool must_overlap) {
  EXPECT_TRUE(verdict.holds) << verdict.explanation;
  const uint64_t few = HistoryOperations() / 1000;
  EXPECT_GT(verdict.pops, few);
  EXPECT_GT(verdict.pops_of_nothing, 0u);
  if (must_overlap) {
    EXPECT_GT(verdict.pops_confined, few / 10);
  }
  const auto note = [](const char* name, uint64_t count) {
    testing::Test::RecordProperty(name, std::to_string(count));
  };
  note("pushes", verdict.pushes);
  note("pops", verdict.pops);
  note("pops_of_nothing", verdict.pops_of_nothing);
  note("removals", verdict.removals);
  note("pops_confined", verdict.pops_confined);
}

}  // namespace schedq
