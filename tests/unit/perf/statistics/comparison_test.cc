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

TEST(PerfComparison, ALargeButUnsureChangeIsInconclusive) {
  EXPECT_EQ(CompareOne(MeasureKind::kDuration, {100, 140, 90}, {120, 150, 100}).verdict,
            ChangeVerdict::kInconclusive);
  EXPECT_EQ(CompareOne(MeasureKind::kDuration, {100}, {200}).verdict, ChangeVerdict::kInconclusive);
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
  EXPECT_EQ(both[0].verdict, ChangeVerdict::kInconclusive);
  EXPECT_EQ(both[1].name, "still");
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
