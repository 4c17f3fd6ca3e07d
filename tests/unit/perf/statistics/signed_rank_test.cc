// Goal: Wilcoxon's test of pairs has the p of its exact distribution, and comparisons of pairs find
// what a pair shares with nobody else.
// Method: distributions counted by hand; pairs whose common noise is far above their difference.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "perf/statistics/comparison.h"
#include "perf/statistics/rank_test.h"

namespace schedq {
namespace {

TEST(PerfSignedRank, ItIsExactWithoutTies) {
  EXPECT_DOUBLE_EQ(SignedRankP(std::vector<double>{1, 2, 3, 4, 5}), 2.0 / 32);
  EXPECT_DOUBLE_EQ(SignedRankP(std::vector<double>{-1, -2, -3, -4, -5}), 2.0 / 32);
  // The sum of ranks below 0 is 1: two of 32 choices have at most that.
  EXPECT_DOUBLE_EQ(SignedRankP(std::vector<double>{-1, 2, 3, 4, 5}), 4.0 / 32);
  EXPECT_DOUBLE_EQ(SignedRankP(std::vector<double>{1, -2, 3, -4}), 14.0 / 16);
}

TEST(PerfSignedRank, TiesShareRanksAndZerosDoNotCount) {
  EXPECT_DOUBLE_EQ(SignedRankP(std::vector<double>{1, 1, 1}), 2.0 / 8);
  EXPECT_DOUBLE_EQ(SignedRankP(std::vector<double>{1, 1, -1}), 1);
  EXPECT_DOUBLE_EQ(SignedRankP(std::vector<double>{0, 0, 1, 2, 3}), 2.0 / 8);
  EXPECT_DOUBLE_EQ(SignedRankP(std::vector<double>{0, 0}), 1);
  EXPECT_DOUBLE_EQ(SignedRankP(std::vector<double>{}), 1);
}

TEST(PerfSignedRank, TheApproximationAgreesWithTheExactTest) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> distribution(0.15, 1);
  std::vector<double> exact(kSignedExactMax);
  for (double& value : exact) value = distribution(random);
  std::vector<double> one_more = exact;
  one_more.push_back(1e-9);  // The least rank of all: it hardly counts.
  EXPECT_NEAR(SignedRankP(exact), SignedRankP(one_more), 0.002);
}

// Both of a pair are slowed by up to half by others; new takes 5 % more, give or take 1 %.
std::vector<MetricSamples> Pairs(uint64_t seed, size_t count, double slower) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> common(1, 1.5);
  std::normal_distribution<double> own(0, 0.01);
  MetricSamples metric = {"m", MeasureKind::kDuration, {}, {}, true, true};
  for (size_t i = 0; i < count; ++i) {
    const double weather = common(random);
    metric.base.push_back(100 * weather * std::exp(own(random)));
    metric.next.push_back(100 * weather * slower * std::exp(own(random)));
  }
  return {metric};
}

TEST(PerfPairs, WhatIsCommonToAPairCancels) {
  ComparisonOptions options;
  options.bootstrap.resamples = 200;
  int found = 0;
  int alarms = 0;
  int alone = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<MetricSamples> slower = Pairs(seed, 10, 1.07);
    found += CompareAll(slower, options)[0].verdict == ChangeVerdict::kWorse ? 1 : 0;
    slower[0].is_paired = false;
    alone += CompareAll(slower, options)[0].verdict == ChangeVerdict::kWorse ? 1 : 0;
    alarms += CompareAll(Pairs(seed, 10, 1), options)[0].verdict == ChangeVerdict::kSame ? 0 : 1;
  }
  EXPECT_GE(found, 57);
  EXPECT_EQ(alarms, 0);
  EXPECT_LE(alone, 6) << "without pairs the noise is larger than the change";
}

TEST(PerfPairs, TooFewPairsCannotTell) {
  const Comparison few = CompareAll(Pairs(1, 5, 1.2))[0];
  EXPECT_EQ(few.verdict, ChangeVerdict::kCannotTell);
  EXPECT_EQ(few.runs_needed, 8u);
  EXPECT_EQ(FewestRuns(1, 0.01, true), 8u);
  EXPECT_EQ(FewestRuns(5, 0.01, true), 10u);
}

}  // namespace
}  // namespace schedq
