// Goal: medians, quantiles and spreads have the textbook's values, also for one value and for ties.
// Method: small samples computed by hand; quantiles against R's documented type 7.
#include "perf/statistics/summary.h"

#include <gtest/gtest.h>

#include <vector>

namespace schedq {
namespace {

TEST(PerfSummary, MedianOfOddEvenAndOne) {
  EXPECT_EQ(Median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(Median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(Median(std::vector<double>{7}), 7);
}

TEST(PerfSummary, QuantilesInterpolateAsType7) {
  // R: quantile(c(1, 2, 4, 8, 16), c(0, .1, .25, .5, .9, 1)) is 1, 1.4, 2, 4, 12.8, 16.
  const std::vector<double> values = {16, 1, 8, 2, 4};
  EXPECT_DOUBLE_EQ(Quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.1), 1.4);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.25), 2);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.5), 4);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.9), 12.8);
  EXPECT_DOUBLE_EQ(Quantile(values, 1), 16);
}

TEST(PerfSummary, EqualValuesStayExact) {
  const std::vector<double> values(9, 0.1);
  EXPECT_EQ(Quantile(values, 0.37), 0.1);
  EXPECT_EQ(MedianAbsoluteDeviation(values), 0);
}

TEST(PerfSummary, MedianAbsoluteDeviation) {
  // The median is 2, the distances are 1 1 0 0 2 4 7, their median is 1.
  EXPECT_EQ(MedianAbsoluteDeviation(std::vector<double>{1, 1, 2, 2, 4, 6, 9}), 1);
}

TEST(PerfSummary, SummaryOfTheRepetitions) {
  const Summary summary = Summarize(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(summary.count, 8u);
  EXPECT_EQ(summary.min, 2);
  EXPECT_EQ(summary.max, 9);
  EXPECT_EQ(summary.mean, 5);
  EXPECT_EQ(summary.median, 4.5);
  EXPECT_EQ(summary.lower_quartile, 4);
  EXPECT_EQ(summary.upper_quartile, 5.5);
  EXPECT_DOUBLE_EQ(summary.standard_deviation, 2.1380899352993950);  // sqrt(32 / 7)
  EXPECT_DOUBLE_EQ(summary.spread, 7 / 4.5);
}

TEST(PerfSummary, NothingAndOneValue) {
  EXPECT_EQ(Summarize({}).count, 0u);
  const Summary one = Summarize(std::vector<double>{0});
  EXPECT_EQ(one.count, 1u);
  EXPECT_EQ(one.standard_deviation, 0);
  EXPECT_EQ(one.spread, 0);
}

TEST(PerfSummaryDeathTest, NoQuantileOfNothing) {
  EXPECT_DEATH(Median({}), "at least one value");
  EXPECT_DEATH(Quantile(std::vector<double>{1}, 1.5), "lies in");
}

}  // namespace
}  // namespace schedq
