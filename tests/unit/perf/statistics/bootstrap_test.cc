// Goal: bootstrap intervals cover the true value about as often as they claim, and one seed gives
// one interval.
// Method: many seeded samples from known distributions; the test counts the intervals that contain
// the true value.
#include "perf/statistics/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "perf/statistics/interval.h"

namespace schedq {
namespace {

constexpr int kTrials = 400;

BootstrapOptions Options(int trial, BootstrapMethod method) {
  BootstrapOptions options;
  options.seed = static_cast<uint64_t>(trial);
  options.resamples = 500;
  options.method = method;
  return options;
}

// A sample of exp(normal) with this median, which is skewed as latencies are.
std::vector<double> LogNormal(std::mt19937_64& random, size_t count, double median) {
  std::lognormal_distribution<double> distribution(std::log(median), 0.3);
  std::vector<double> values(count);
  for (double& value : values) value = distribution(random);
  return values;
}

// The median of 20 values moves in steps, which takes about one point of coverage from its
// interval. 400 trials add a standard deviation of about one point.
void ExpectAbout95Percent(int covered) {
  EXPECT_GE(covered, kTrials * 91 / 100);
  EXPECT_LE(covered, kTrials * 98 / 100);
}

class PerfBootstrap : public testing::TestWithParam<BootstrapMethod> {};

TEST_P(PerfBootstrap, CoversTheMedian) {
  std::mt19937_64 random(1);
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<double> sample = LogNormal(random, 20, 100);
    covered += MedianInterval(sample, Options(trial, GetParam())).Contains(100) ? 1 : 0;
  }
  ExpectAbout95Percent(covered);
}

TEST_P(PerfBootstrap, CoversTheRatioOfMedians) {
  std::mt19937_64 random(2);
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<double> base = LogNormal(random, 20, 100);
    const std::vector<double> next = LogNormal(random, 20, 120);
    covered += MedianRatioInterval(base, next, Options(trial, GetParam())).Contains(1.2) ? 1 : 0;
  }
  ExpectAbout95Percent(covered);
}

TEST_P(PerfBootstrap, HoldsTheEstimateAndStaysWithinTheSample) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> sample = LogNormal(random, 9, 50);
    const Interval interval = MedianInterval(sample, Options(trial, GetParam()));
    std::sort(sample.begin(), sample.end());
    ASSERT_TRUE(interval.Contains(sample[4]));
    ASSERT_TRUE(interval.Within(sample.front(), sample.back()));
  }
}

TEST_P(PerfBootstrap, OneSeedOneInterval) {
  std::mt19937_64 random(4);
  const std::vector<double> sample = LogNormal(random, 31, 50);
  const Interval first = MedianInterval(sample, Options(1, GetParam()));
  EXPECT_EQ(first, MedianInterval(sample, Options(1, GetParam())));
  int different = 0;
  for (int seed = 2; seed < 12; ++seed) {
    different += first == MedianInterval(sample, Options(seed, GetParam())) ? 0 : 1;
  }
  EXPECT_GT(different, 0);
}

TEST_P(PerfBootstrap, MoreConfidenceIsWider) {
  std::mt19937_64 random(5);
  const std::vector<double> sample = LogNormal(random, 40, 50);
  BootstrapOptions narrow = Options(1, GetParam());
  narrow.confidence = 0.5;
  BootstrapOptions wide = narrow;
  wide.confidence = 0.99;
  const Interval inner = MedianInterval(sample, narrow);
  const Interval outer = MedianInterval(sample, wide);
  EXPECT_TRUE(inner.Within(outer.low, outer.high));
  EXPECT_LT(inner.high - inner.low, outer.high - outer.low);
}

INSTANTIATE_TEST_SUITE_P(Methods, PerfBootstrap,
                         testing::Values(BootstrapMethod::kPercentile,
                                         BootstrapMethod::kBiasCorrected),
                         [](const auto& method) {
                           return method.param == BootstrapMethod::kPercentile ? "Percentile"
                                                                               : "BiasCorrected";
                         });

TEST(PerfBootstrapEdges, WithoutSpreadTheIntervalIsAPoint) {
  const std::vector<double> same(10, 4.0);
  EXPECT_EQ(MedianInterval(same), (Interval{4, 4}));
  EXPECT_EQ(MedianInterval(std::vector<double>{9}), (Interval{9, 9}));
  EXPECT_EQ(MedianRatioInterval(same, std::vector<double>(3, 2.0)), (Interval{0.5, 0.5}));
}

TEST(PerfBootstrapDeathTest, ARatioNeedsPositiveValues) {
  const std::vector<double> with_zero = {0, 1};
  const std::vector<double> positive = {1, 2};
  EXPECT_DEATH(MedianRatioInterval(with_zero, positive), "positive");
}

}  // namespace
}  // namespace schedq
