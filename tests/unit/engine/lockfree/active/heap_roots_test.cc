// Goal: threads that restructure the heap at one time get their roots, however few there are.
// Method: fewer roots than threads, which all push at random; then the entries are counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/active/quick_heap.h"
#include "tests/support/small_shapes.h"

namespace schedq {
namespace {

struct FewRoots : SmallActiveQueueShape {
  static constexpr uint32_t kHeapRootsMax = 3;
};

// With as many roots as one thread needs in turn, two may find none.
TEST(HeapRoots, RestructuringWaitsForARoot) {
  constexpr uint32_t kThreads = 4;
  constexpr uint32_t kEach = 20'000;
  QuickHeap<std::atomic, FewRoots> heap;
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&heap, thread] {
      Random random(thread);
      for (uint32_t i = 0; i < kEach; ++i) {
        heap.Push({static_cast<int32_t>(random.Below(1'000'000)), 0, uint64_t{thread} * kEach + i});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heap.Size(), uint64_t{kThreads} * kEach);
}

}  // namespace
}  // namespace schedq
