// Goal: draws are the published generators' and have the promised distributions. Method: known
// answers, and moments of seeded samples with bounds of five standard errors.
#include "engine/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace schedq {
namespace {

// The first draws for seed 0 that other implementations (such as rand_xoshiro) are tested against.
TEST(Random, IsXoshiroSeededBySplitMix) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0x53175d61490b23dfull);
  EXPECT_EQ(random.Next(), 0x61da6f3dc380d507ull);
}

TEST(Random, BelowIsUniform) {
  Random random(1);
  constexpr int kDraws = 60000;
  std::vector<int> counts(6);
  for (int i = 0; i < kDraws; ++i) ++counts[random.Below(6)];
  const double expected = kDraws / 6.0;
  for (const int count : counts) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected));
  // Three quarters of the range: without redrawing, the lower half would come up too often.
  constexpr uint64_t kBound = uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += random.Below(kBound) < kBound / 3 ? 1 : 0;
  EXPECT_NEAR(low, kDraws / 3.0, 5 * std::sqrt(kDraws / 4.5));
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(Random, BetweenIncludesBothEnds) {
  Random random(2);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 200; ++i) {
    const int64_t drawn = random.Between(-1, 1);
    ASSERT_TRUE(drawn >= -1 && drawn <= 1);
    low |= drawn == -1;
    high |= drawn == 1;
  }
  EXPECT_TRUE(low && high);
  random.Between(INT64_MIN, INT64_MAX);
}

TEST(Random, ExponentialHasItsMeanAndMedian) {
  Random random(3);
  constexpr int kDraws = 100000;
  double sum = 0;
  int below_median = 0;
  int beyond_three = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = random.Exponential(2.0);
    sum += drawn;
    below_median += drawn < 2.0 * std::log(2.0) ? 1 : 0;
    beyond_three += drawn > 6.0 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 2.0, 5 * 2.0 / std::sqrt(kDraws));
  EXPECT_NEAR(below_median, kDraws / 2.0, 5 * std::sqrt(kDraws / 4.0));
  EXPECT_NEAR(beyond_three, kDraws * std::exp(-3.0), 5 * std::sqrt(kDraws * std::exp(-3.0)));
}

TEST(Random, ZipfFollowsItsPower) {
  Random random(4);
  const Zipf zipf(4, 1.0);
  constexpr int kDraws = 50000;
  std::vector<int> counts(4);
  for (int i = 0; i < kDraws; ++i) ++counts[zipf.Draw(random)];
  const double first = kDraws * 12.0 / 25.0;
  for (int rank = 0; rank < 4; ++rank) {
    const double expected = first / (rank + 1);
    EXPECT_NEAR(counts[rank], expected, 5 * std::sqrt(expected)) << rank;
  }
}

TEST(Random, ShuffleIsAPermutationWithoutBias) {
  Random random(5);
  std::vector<int> first_counts(5);
  for (int i = 0; i < 20000; ++i) {
    std::vector<int> items(5);
    std::iota(items.begin(), items.end(), 0);
    random.Shuffle(items);
    ++first_counts[items[0]];
    std::sort(items.begin(), items.end());
    ASSERT_THAT(items, testing::ElementsAre(0, 1, 2, 3, 4));
  }
  for (const int count : first_counts) EXPECT_NEAR(count, 4000, 5 * std::sqrt(3200));
}

TEST(Random, ForksAreTheirOwn) {
  Random parent(6);
  Random fork = parent.Fork(1);
  const uint64_t first = fork.Next();
  parent.Next();
  EXPECT_EQ(parent.Fork(1).Next(), first) << "a fork does not depend on what was drawn";
  EXPECT_NE(parent.Fork(2).Next(), first);
  EXPECT_NE(Random(7).Fork(1).Next(), first);
}

}  // namespace
}  // namespace schedq
