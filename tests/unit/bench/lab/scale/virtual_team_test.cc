// Goal: code runs on virtual threads as on real ones, and its lines are seen: a counter that all
// share moves with each addition, counters of their own never move, and counters that only share a
// line do.
// Method: little structures over the seam, whose transfers are known; the same seed twice.
#include "bench/lab/scale/virtual_team.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "bench/lab/scale/atom.h"
#include "bench/lab/scale/cache_lines.h"
#include "bench/lab/scale/renderings.h"
#include "bench/lab/scale/scale_path.h"

namespace schedq::scale {
namespace {

constexpr uint64_t kOperations = 8000;

static_assert(sizeof(Atomic<uint64_t>) == sizeof(std::atomic<uint64_t>) &&
                  alignof(Atomic<uint32_t>) == alignof(std::atomic<uint32_t>),
              "what shares a line in the shipped code shares it here");

class SharedCounter : public EvenPath {
 public:
  using EvenPath::EvenPath;
  void Operate(uint32_t) { counter_.fetch_add(1); }

 private:
  alignas(CacheLines::kLineBytes) Atomic<uint64_t> counter_{0};
};

template <size_t kBytes>
class OwnCounters : public EvenPath {
 public:
  using EvenPath::EvenPath;
  void Operate(uint32_t thread) { counters_[thread].value.fetch_add(1); }

 private:
  struct alignas(kBytes) Counter {
    Atomic<uint64_t> value{0};
  };
  alignas(CacheLines::kLineBytes) std::array<Counter, kVirtualThreadsMax> counters_;
};
using PaddedCounters = OwnCounters<CacheLines::kLineBytes>;
// Eight of them share a line: false sharing.
using NeighbouringCounters = OwnCounters<sizeof(uint64_t)>;

// A load, and an exchange that fails if another thread added meanwhile.
class ExchangedCounter : public EvenPath {
 public:
  using EvenPath::EvenPath;
  void Operate(uint32_t) {
    uint64_t seen = counter_.load();
    while (!counter_.compare_exchange_weak(seen, seen + 1)) {
    }
  }

 private:
  Atomic<uint64_t> counter_{0};
};

template <typename Path>
LineCounts CountOf(uint32_t threads, uint64_t seed = 1) {
  return CountPath<Path>({threads, kOperations, seed});
}

double PerOperation(uint64_t count, const LineCounts& counts) {
  return static_cast<double>(count) / static_cast<double>(counts.operations);
}

TEST(VirtualTeam, OneThreadMovesNothing) {
  for (const LineCounts& counts : {CountOf<SharedCounter>(1), CountOf<ExchangedCounter>(1)}) {
    EXPECT_EQ(counts.operations, kOperations);
    EXPECT_EQ(counts.transfers, 0u);
    EXPECT_EQ(counts.retries, 0u);
  }
}
// A thread adds two or three times while the line stays: 20 ticks and the wait of the others, over
// 8 to 16 for each addition.
// to 16 for each addition.
constexpr double kMovesMin = 0.25;

TEST(VirtualTeam, ASharedCounterMovesEveryFewAdditions) {
  for (const uint32_t threads : {2u, 8u, 128u}) {
    const LineCounts counts = CountOf<SharedCounter>(threads);
    EXPECT_EQ(counts.updates, counts.operations);
    EXPECT_GT(PerOperation(counts.transfers, counts), kMovesMin) << threads;
    EXPECT_LE(counts.transfers, counts.operations) << threads;
    EXPECT_EQ(counts.hottest_transfers, counts.transfers) << "there is one line";
  }
}

TEST(VirtualTeam, CountersOfTheirOwnNeverMove) {
  for (const uint32_t threads : {2u, 8u, 128u}) {
    const LineCounts counts = CountOf<PaddedCounters>(threads);
    EXPECT_EQ(counts.operations, kOperations / threads * threads);
    EXPECT_EQ(counts.transfers, 0u) << threads;
    EXPECT_EQ(counts.contended_updates, 0u) << threads;
  }
}

TEST(VirtualTeam, FalseSharingIsSeen) {
  const LineCounts counts = CountOf<NeighbouringCounters>(8);
  EXPECT_GT(PerOperation(counts.transfers, counts), kMovesMin);
}

TEST(VirtualTeam, ExchangesFailWhereOthersSucceed) {
  const LineCounts counts = CountOf<ExchangedCounter>(16);
  EXPECT_GT(counts.retries, 0u);
  EXPECT_EQ(counts.updates, counts.operations + counts.retries);
}

TEST(VirtualTeam, TheSeedDecidesTheRun) {
  const auto fingerprint = [](uint64_t seed) {
    const LineCounts counts = CountOf<ExchangedCounter>(16, seed);
    return std::array<uint64_t, 4>{counts.transfers, counts.retries, counts.accesses,
                                   counts.contended_updates};
  };
  EXPECT_EQ(fingerprint(7), fingerprint(7));
  EXPECT_NE(fingerprint(7), fingerprint(8));
}

// Between the load and the store other threads would come, if the lock let them.
TEST(VirtualTeam, ALockKeepsOthersOutAndWakesThem) {
  constexpr uint32_t kThreads = 16;
  constexpr uint64_t kEach = 200;
  VirtualTeam team(kThreads, 1);
  FutexLock<Atomic> lock;
  Atomic<uint64_t> guarded{0};
  Atomic<uint64_t> naked{0};
  team.Run([&](uint32_t) {
    for (uint64_t i = 0; i < kEach; ++i) {
      naked.store(naked.load() + 1);
      const std::lock_guard guard(lock);
      guarded.store(guarded.load() + 1);
    }
  });
  EXPECT_EQ(guarded.load(), kThreads * kEach);
  EXPECT_LT(naked.load(), kThreads * kEach) << "the control: without the lock additions are lost";
}

}  // namespace
}  // namespace schedq::scale
