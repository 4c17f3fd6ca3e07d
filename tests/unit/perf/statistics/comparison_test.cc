// Goal: the verdict on two samples follows the stated rules and the metric's own direction, and
// noise does not change it.
// Method: samples built for each branch of the rules; then rates of wrong verdicts over many seeds.
#include "perf/statistics/comparison.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace schedq {
namespace {

std::vector<double> Noisy(uint64_t seed, size_t count, double median, double noise) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> distribution(median, median * noise);
  std::vector<double> values(count);
  for (double& value : values) value = distribution(random);
  return values;
}

Comparison CompareOne(MeasureKind kind, std::vector<double> base, std::vector<double> next) {
  const std::vector<MetricSamples> metrics = {{"metric", kind, std::move(base), std::move(next)}};
  return CompareAll(metrics)[0];
}

TEST(PerfComparison, AClearChangeIsJudgedInTheMetricsDirection) {
  const std::vector<double> low = Noisy(1, 10, 100, 0.01);
  const std::vector<double> high = Noisy(2, 10, 120, 0.01);
  EXPECT_EQ(CompareOne(MeasureKind::kDuration, low, high).verdict, ChangeVerdict::kWorse);
  EXPECT_EQ(CompareOne(MeasureKind::kDuration, high, low).verdict, ChangeVerdict::kBetter);
  EXPECT_EQ(CompareOne(MeasureKind::kRate, low, high).verdict, ChangeVerdict::kBetter);
  EXPECT_EQ(CompareOne(MeasureKind::kRate, high, low).verdict, ChangeVerdict::kWorse);
  EXPECT_EQ(CompareOne(MeasureKind::kSize, low, high).verdict, ChangeVerdict::kWorse);
  const Comparison comparison = CompareOne(MeasureKind::kDuration, low, high);
  EXPECT_NEAR(comparison.Change(), 0.2, 0.03);
  EXPECT_TRUE(comparison.ratio_interval.Contains(comparison.ratio));
  EXPECT_LT(comparison.p, 0.001);
}

TEST(PerfComparison, ASignificantButSmallChangeIsNoRegression) {
  const Comparison comparison =
      CompareOne(MeasureKind::kDuration, Noisy(1, 20, 100, 0.001), Noisy(2, 20, 102, 0.001));
  EXPECT_LT(comparison.p_adjusted, 0.001);
  EXPECT_EQ(comparison.verdict, ChangeVerdict::kSame);
}

TEST(PerfComparison, OfALargeButUnsureChangeTheRunsCannotTell) {
  EXPECT_EQ(CompareOne(MeasureKind::kDuration, {100, 140, 90}, {120, 150, 100}).verdict,
            ChangeVerdict::kCannotTell);
  EXPECT_EQ(CompareOne(MeasureKind::kDuration, {100}, {200}).verdict, ChangeVerdict::kCannotTell);
}

TEST(PerfComparison, EqualSamplesAreTheSame) {
  EXPECT_EQ(CompareOne(MeasureKind::kRate, {336}, {336}).verdict, ChangeVerdict::kSame);
  EXPECT_EQ(CompareOne(MeasureKind::kSize, {0, 0}, {0, 0}).verdict, ChangeVerdict::kSame);
}

TEST(PerfComparison, AZeroBaseHasNoFiniteRatio) {
  const std::vector<double> zeros(10, 0);
  const Comparison grown = CompareOne(MeasureKind::kSize, zeros, Noisy(1, 10, 8, 0.1));
  EXPECT_EQ(grown.ratio, std::numeric_limits<double>::infinity());
  EXPECT_EQ(grown.verdict, ChangeVerdict::kWorse);
  const Comparison gone = CompareOne(MeasureKind::kSize, Noisy(1, 10, 8, 0.1), zeros);
  EXPECT_EQ(gone.ratio, 0);
  EXPECT_EQ(gone.verdict, ChangeVerdict::kBetter);
}

TEST(PerfComparison, ManyMetricsRaiseTheBar) {
  // U = 15 of 10 x 10 gives p = 0.0068, which is significant alone, but not among two or more
  // metrics.
  const std::vector<double> base = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<double> next = {5.5, 6.5, 7.5, 7.6, 11, 12, 13, 14, 15, 16};
  const MetricSamples shifted = {"shifted", MeasureKind::kDuration, base, next};
  const MetricSamples still = {"still", MeasureKind::kDuration, base, base};
  const std::vector<Comparison> alone = CompareAll(std::vector<MetricSamples>{shifted});
  const std::vector<Comparison> both = CompareAll(std::vector<MetricSamples>{shifted, still});
  EXPECT_LT(alone[0].p, 0.01);
  EXPECT_EQ(alone[0].verdict, ChangeVerdict::kWorse);
  EXPECT_DOUBLE_EQ(both[0].p_adjusted, 2 * both[0].p);
  EXPECT_EQ(both[0].verdict, ChangeVerdict::kCannotTell);
  EXPECT_EQ(both[1].name, "still");
}

// Fifty metrics that nobody had asked for took the evidence from the one that somebody had.
TEST(PerfComparison, WhatIsShownOnlyDoesNotRaiseTheBar) {
  const std::vector<double> base = {241, 243, 240, 244, 242, 245};
  const std::vector<double> next = {221, 220, 219, 223, 222, 224};  // -8.4 %
  std::vector<MetricSamples> metrics = {{"throughput", MeasureKind::kRate, base, next, true}};
  for (int i = 0; i < 50; ++i) {
    metrics.push_back({std::to_string(i), MeasureKind::kDuration, base, next, false});
  }
  const std::vector<Comparison> comparisons = CompareAll(metrics);
  EXPECT_EQ(comparisons[0].verdict, ChangeVerdict::kWorse);
  EXPECT_DOUBLE_EQ(comparisons[0].p_adjusted, comparisons[0].p);
  EXPECT_EQ(comparisons[0].runs_needed, 0u);
  EXPECT_EQ(comparisons[1].verdict, ChangeVerdict::kNotTested);
  EXPECT_EQ(comparisons[1].p, 1);
  for (MetricSamples& metric : metrics) metric.is_tested = true;
  EXPECT_EQ(CompareAll(metrics)[0].verdict, ChangeVerdict::kCannotTell) << "the canary";
}

TEST(PerfComparison, TheFewestRunsAreThoseThatTheTestNeeds) {
  // 2 of the C(2n, n) orders are the extreme ones: 20 with 3 runs, 252 with 5, 924 with 6.
  EXPECT_EQ(FewestRuns(1, 0.11), 3u);
  EXPECT_EQ(FewestRuns(1, 0.01), 5u);
  EXPECT_EQ(FewestRuns(4, 0.01), 6u);
  EXPECT_EQ(FewestRuns(5, 0.01), 7u);
}

TEST(PerfComparison, ItSaysHowManyRunsWouldDo) {
  // Three workloads of five runs each: no order of so few runs is rare enough.
  std::vector<MetricSamples> metrics;
  for (int i = 0; i < 3; ++i) {
    metrics.push_back(
        {std::to_string(i), MeasureKind::kRate, {100, 101, 102, 103, 104}, {80, 81, 82, 83, 84}});
  }
  for (const Comparison& comparison : CompareAll(metrics)) {
    EXPECT_EQ(comparison.verdict, ChangeVerdict::kCannotTell);
    EXPECT_EQ(comparison.runs_needed, 6u);
  }
  const Comparison one = CompareOne(MeasureKind::kRate, {100}, {101});
  EXPECT_EQ(one.verdict, ChangeVerdict::kCannotTell) << "one run says nothing of noise";
  EXPECT_EQ(one.runs_needed, 5u);
}

// What is said to do does, in about nine of ten.
TEST(PerfComparison, SoManyRunsDo) {
  int asked = 0;
  int told = 0;
  ComparisonOptions options;
  options.bootstrap.resamples = 200;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const auto compare = [&](uint64_t runs, uint64_t which) {
      const MetricSamples metric = {"m", MeasureKind::kRate, Noisy(which, runs, 100, 0.06),
                                    Noisy(which + 1, runs, 88, 0.06)};
      return CompareAll(std::vector<MetricSamples>{metric}, options)[0];
    };
    const Comparison few = compare(8, 2 * seed);
    if (few.verdict != ChangeVerdict::kCannotTell || few.runs_needed > kRunsNeededMax) continue;
    ++asked;
    const Comparison more = compare(few.runs_needed, 1000 + 2 * seed);
    if (more.verdict != ChangeVerdict::kCannotTell) ++told;
  }
  EXPECT_GE(asked, 20);
  EXPECT_GE(told * 10, asked * 7) << told << " of " << asked;
}

TEST(PerfComparison, NotWorseIsAOneSidedStatement) {
  const ComparisonOptions options;
  // Faster or as it was, but by how much is not known.
  const Comparison better = CompareOne(MeasureKind::kRate, {100, 101, 102, 103, 104, 105},
                                       {100, 104, 108, 112, 116, 120});
  EXPECT_EQ(better.verdict, ChangeVerdict::kCannotTell);
  EXPECT_TRUE(better.IsNotWorse(options));
  const Comparison worse = CompareOne(MeasureKind::kDuration, {100, 101, 102, 103, 104, 105},
                                      {100, 104, 108, 112, 116, 120});
  EXPECT_FALSE(worse.IsNotWorse(options));
  EXPECT_FALSE(CompareOne(MeasureKind::kRate, {100}, {101}).IsNotWorse(options));
}

TEST(PerfComparison, NoiseDoesNotFlipTheVerdict) {
  // There are 300 comparisons of ten metrics each, with equal medians and 10 % noise. At the 1 %
  // level only a few comparisons may find a change. A real change of 40 % is nearly always found.
  int false_alarms = 0;
  int found = 0;
  ComparisonOptions options;
  options.bootstrap.resamples = 50;
  constexpr uint64_t kFamilies = 300;
  for (uint64_t family = 0; family < kFamilies; ++family) {
    std::vector<MetricSamples> metrics;
    for (uint64_t i = 0; i < 11; ++i) {
      const uint64_t seed = (family * 11 + i) * 2;
      const double next = i == 10 ? 140 : 100;
      metrics.push_back({std::to_string(i), MeasureKind::kDuration, Noisy(seed, 10, 100, 0.1),
                         Noisy(seed + 1, 10, next, 0.1)});
    }
    const std::vector<Comparison> comparisons = CompareAll(metrics, options);
    bool alarm = false;
    for (uint64_t i = 0; i < 10; ++i) {
      const ChangeVerdict verdict = comparisons[i].verdict;
      alarm = alarm || verdict == ChangeVerdict::kBetter || verdict == ChangeVerdict::kWorse;
    }
    false_alarms += alarm ? 1 : 0;
    found += comparisons[10].verdict == ChangeVerdict::kWorse ? 1 : 0;
  }
  EXPECT_LE(false_alarms, 9);
  EXPECT_GE(found, 270);
}

TEST(PerfComparison, WordsAndUnits) {
  EXPECT_EQ(VerdictWord(ChangeVerdict::kWorse, MeasureKind::kRate), "slower");
  EXPECT_EQ(VerdictWord(ChangeVerdict::kBetter, MeasureKind::kDuration), "faster");
  EXPECT_EQ(VerdictWord(ChangeVerdict::kBetter, MeasureKind::kSize), "smaller");
  EXPECT_EQ(VerdictWord(ChangeVerdict::kSame, MeasureKind::kSize), "same");
  EXPECT_EQ(MeasureKindOfUnit("pods/s"), MeasureKind::kRate);
  EXPECT_EQ(MeasureKindOfUnit("ms"), MeasureKind::kDuration);
  EXPECT_EQ(MeasureKindOfUnit("ns/op"), MeasureKind::kDuration);
  EXPECT_EQ(MeasureKindOfUnit("bytes/pod"), MeasureKind::kSize);
}

}  // namespace
}  // namespace schedq
