// Goal: ForEachRange covers every number once, in ranges no smaller than the grain.
// Method: count what each range covers, for sizes around multiples of the grain.
#include "hints/parallel_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

namespace schedq::hints_test {
namespace {

TEST(HintsParallelRangesTest, CoversEveryNumberOnceInRangesOfAtLeastTheGrain) {
  constexpr size_t kGrain = 64;
  for (const size_t size : {1, 63, 64, 65, 127, 128, 129, 1000, 4096}) {
    std::vector<int> covered(size, 0);
    std::mutex mutex;
    size_t smallest = size;
    ForEachRange(size, kGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++covered[i];
      std::lock_guard lock(mutex);
      smallest = std::min(smallest, end - begin);
    });
    EXPECT_EQ(covered, std::vector<int>(size, 1)) << size;
    EXPECT_GE(smallest, std::min(size, kGrain)) << size;
  }
}

}  // namespace
}  // namespace schedq::hints_test
