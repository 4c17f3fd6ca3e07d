// Goal: Spearman's rank correlation against known answers.
// Method: orders whose correlation follows from its definition, with and without equal values.
#include "perf/statistics/rank_correlation.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace schedq {
namespace {

std::optional<double> Of(const std::vector<double>& first, const std::vector<double>& second) {
  return RankCorrelation(first, second);
}

TEST(RankCorrelationTest, OnlyTheOrderCounts) {
  EXPECT_DOUBLE_EQ(*Of({1, 2, 3, 4}, {1, 10, 100, 1000}), 1);
  EXPECT_DOUBLE_EQ(*Of({1, 2, 3, 4}, {8, 4, 2, 1}), -1);
  // 1 - 6 * sum of squared rank differences / (n (n^2 - 1)): differences 1, 1, 0, 0.
  EXPECT_DOUBLE_EQ(*Of({1, 2, 3, 4}, {2, 1, 3, 4}), 0.8);
  EXPECT_DOUBLE_EQ(*Of({5, 1, 4, 2, 3}, {1, 2, 3, 4, 5}), -0.3);
}

TEST(RankCorrelationTest, EqualValuesShareTheirRank) {
  // Ranks 0.5, 0.5, 2 against 0, 1, 2.
  EXPECT_NEAR(*Of({7, 7, 9}, {1, 2, 3}), 0.8660254, 1e-7);
}

TEST(RankCorrelationTest, WithoutAnOrderThereIsNone) {
  EXPECT_EQ(Of({}, {}), std::nullopt);
  EXPECT_EQ(Of({1}, {2}), std::nullopt);
  EXPECT_EQ(Of({1, 1, 1}, {1, 2, 3}), std::nullopt);
}

}  // namespace
}  // namespace schedq
