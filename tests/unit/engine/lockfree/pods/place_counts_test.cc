// Goal: counts are never below zero, and never below the number of pods that stayed where they are.
// Method: a pod whose move is told before the one that made it possible; and real threads that hand
// pods to each other while a third one reads.
#include "engine/lockfree/pods/place_counts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/place.h"

namespace schedq {
namespace {

TEST(PlaceCounts, MoveThatIsToldTooEarlyGoesNotBelowZero) {
  const PlaceCounts counts;
  counts.Move(Place::kActive, Place::kInFlight);
  EXPECT_EQ(counts.Read().active, 0u);
  EXPECT_EQ(counts.Read().in_flight, 1u);
  counts.Move(Place::kAbsent, Place::kActive);
  EXPECT_EQ(counts.Read().active, 0u);
  counts.Move(Place::kAbsent, Place::kActive, 3);
  EXPECT_EQ(counts.Read().active, 3u);
}

TEST(PlaceCounts, PopulationGoesNotBelowZero) {
  MetricsRegistry registry;
  const Population pods =
      registry.DensePopulations({.name = "pods", .help = "", .labels = {"plugin"}}, {{"Filter"}})
          .At(0);
  pods.Add(-1);
  EXPECT_EQ(registry.Value("pods", {"Filter"}).value_or(0), 0);
  pods.Add(1);
  EXPECT_EQ(registry.Value("pods", {"Filter"}).value_or(0), 0);
  pods.Add(2);
  EXPECT_EQ(registry.Value("pods", {"Filter"}), 2);
}

TEST(PlaceCounts, PodsThatStayAreCountedWhileOthersMove) {
  constexpr uint64_t kStaying = 100;
  constexpr int kThreads = 4;
  constexpr uint64_t kMoves = 2'000;
  const PlaceCounts counts;
  counts.Move(Place::kAbsent, Place::kActive, kStaying);
  // Thread t adds a pod to active, and thread t + 1 takes it away.
  std::vector<std::atomic<uint64_t>> added(kThreads);
  std::vector<std::atomic<uint64_t>> taken(kThreads);
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const int before = (t + kThreads - 1) % kThreads;
      for (uint64_t move = 0; move < kMoves || taken[before].load() < kMoves;) {
        if (move < kMoves && taken[t].load() == move) {
          counts.Move(Place::kAbsent, Place::kActive);
          added[t].store(++move);
        }
        const uint64_t next = taken[before].load();
        if (added[before].load() > next) {
          counts.Move(Place::kActive, Place::kAbsent);
          taken[before].store(next + 1);
        }
        std::this_thread::yield();
      }
    });
  }
  std::thread reader([&] {
    while (!is_over.load()) ASSERT_GE(counts.Read().active, kStaying);
  });
  for (std::thread& thread : threads) thread.join();
  is_over.store(true);
  reader.join();
}

}  // namespace
}  // namespace schedq
