// Goal: slope, intercept, standard error, interval and R2 are right; verdicts follow the interval.
// Method: the certified Norris data of NIST's Statistical Reference Datasets; exact power laws; and
// the interval's coverage over seeded noise.
#include "perf/statistics/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "engine/base/result.h"

namespace schedq {
namespace {

const std::vector<double> kNorrisX = {0.2,   337.4, 118.2, 884.6, 10.1,  226.5, 666.3, 996.3, 448.6,
                                      777.0, 558.2, 0.4,   0.6,   775.5, 666.9, 338.0, 447.5, 11.6,
                                      556.0, 228.1, 995.8, 887.6, 120.2, 0.3,   0.3,   556.8, 339.1,
                                      887.2, 999.0, 779.0, 11.1,  118.3, 229.2, 669.1, 448.9, 0.5};
const std::vector<double> kNorrisY = {0.1,   338.8, 118.1, 888.0, 9.2,   228.1, 668.5, 998.5, 449.1,
                                      778.9, 559.2, 0.3,   0.1,   778.1, 668.8, 339.3, 448.9, 10.8,
                                      557.7, 228.3, 998.0, 888.8, 119.6, 0.3,   0.6,   557.6, 339.3,
                                      888.0, 998.5, 778.9, 10.2,  117.6, 228.9, 668.4, 449.2, 0.2};

TEST(PerfFit, NorrisData) {
  const Result<LineFit> fit = FitLine(kNorrisX, kNorrisY);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit->slope, 1.00211681802045, 1e-13);
  EXPECT_NEAR(fit->intercept, -0.262323073774029, 1e-11);
  EXPECT_NEAR(fit->slope_standard_error, 0.429796848199937e-03, 1e-14);
  EXPECT_NEAR(fit->r_squared, 0.999993745883712, 1e-13);
  const double half = 2.032244509317719 * 0.429796848199937e-03;  // t(0.975, 34)
  EXPECT_NEAR(fit->slope_interval.low, fit->slope - half, 1e-12);
  EXPECT_NEAR(fit->slope_interval.high, fit->slope + half, 1e-12);
  EXPECT_EQ(fit->points, 36u);
}

TEST(PerfFit, ExactPowerLaw) {
  std::vector<double> sizes;
  std::vector<double> costs;
  for (double size = 1000; size <= 1e6; size *= 10) {
    sizes.push_back(size);
    costs.push_back(3 * size * size);
  }
  const Result<LineFit> fit = FitLogLog(sizes, costs);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit->slope, 2, 1e-12);
  EXPECT_NEAR(std::exp(fit->intercept), 3, 1e-9);
  EXPECT_NEAR(fit->r_squared, 1, 1e-12);
  EXPECT_NEAR(PowerAt(*fit, 500), 750'000, 1e-3);
}

TEST(PerfFit, FlatCostHasExponentZero) {
  const Result<LineFit> fit =
      FitLogLog(std::vector<double>{1, 10, 100, 1000}, std::vector<double>(4, 250.0));
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->slope, 0);
  EXPECT_EQ(fit->r_squared, 1);
  EXPECT_EQ(SlopeAtMost(*fit, 0.03), FitVerdict::kYes);
}

TEST(PerfFit, VerdictFollowsTheWholeInterval) {
  LineFit fit;
  fit.slope = 1.02;
  fit.slope_interval = {1.0, 1.04};
  EXPECT_EQ(SlopeAtMost(fit, 1.04), FitVerdict::kYes);
  EXPECT_EQ(SlopeAtMost(fit, 1.03), FitVerdict::kUnclear);
  EXPECT_EQ(SlopeAtMost(fit, 1.0), FitVerdict::kUnclear);
  EXPECT_EQ(SlopeAtMost(fit, 0.99), FitVerdict::kNo);
}

TEST(PerfFit, IntervalCoversTheTrueExponent) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.2);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> sizes;
    std::vector<double> costs;
    for (double size = 1000; size <= 1e6; size *= 4) {
      sizes.push_back(size);
      costs.push_back(5 * std::pow(size, 1.1) * std::exp(noise(random)));
    }
    covered += FitLogLog(sizes, costs)->slope_interval.Contains(1.1) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(covered) / kTrials, 0.95, 0.015);
}

TEST(PerfFit, WhatCannotBeFittedIsAnError) {
  const std::vector<double> one_size = {5, 5, 5};
  const std::vector<double> costs = {1, 2, 3};
  EXPECT_EQ(FitLogLog(std::vector<double>{1, 2}, std::vector<double>{1, 2}).error().message(),
            "fit: expected at least three points, got 2");
  EXPECT_EQ(FitLogLog(one_size, costs).error().message(),
            "fit: expected at least two different sizes");
  EXPECT_EQ(FitLogLog(costs, std::vector<double>{1, 0, 2}).error().message(),
            "log-log fit: expected positive finite costs, got 0.000000");
  EXPECT_FALSE(FitLogLog(std::vector<double>{1, NAN, 2}, costs).ok());
}

}  // namespace
}  // namespace schedq
