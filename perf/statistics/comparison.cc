#include "perf/statistics/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engine/base/result.h"
#include "perf/statistics/distribution.h"
#include "perf/statistics/multiple.h"
#include "perf/statistics/rank_test.h"
#include "perf/statistics/summary.h"

namespace schedq {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double RatioOf(double base, double next) {
  if (base == next) return 1;
  return base == 0 ? kInfinity : next / base;
}

bool AllPositive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

bool AllAre(std::span<const double> values, double wanted) {
  return std::all_of(values.begin(), values.end(),
                     [wanted](double value) { return value == wanted; });
}

void MeasurePairs(const MetricSamples& metric, const ComparisonOptions& options,
                  Comparison* comparison) {
  std::vector<double> ratios;
  std::vector<double> logarithms;
  for (size_t i = 0; i < metric.base.size(); ++i) {
    ratios.push_back(metric.next[i] / metric.base[i]);
    logarithms.push_back(std::log(ratios.back()));
  }
  comparison->ratio = Median(ratios);
  comparison->ratio_interval = MedianInterval(ratios, options.bootstrap);
  comparison->p = metric.is_tested ? SignedRankP(logarithms) : 1;
}

Comparison Measure(const MetricSamples& metric, const ComparisonOptions& options) {
  Comparison comparison;
  comparison.name = metric.name;
  comparison.kind = metric.kind;
  comparison.base_median = Median(metric.base);
  comparison.next_median = Median(metric.next);
  comparison.base_runs = metric.base.size();
  comparison.next_runs = metric.next.size();
  comparison.is_paired = metric.is_paired;
  if (metric.is_paired) {
    SCHEDQ_CHECK(metric.base.size() == metric.next.size(), "pairs have two values each");
    MeasurePairs(metric, options, &comparison);
    return comparison;
  }
  comparison.ratio = RatioOf(comparison.base_median, comparison.next_median);
  if (metric.is_tested) comparison.p = MannWhitney(metric.base, metric.next).p_two_sided;
  if (AllAre(metric.base, metric.base[0]) && AllAre(metric.next, metric.base[0])) {
    comparison.ratio_interval = {1, 1};
  } else if (AllPositive(metric.base) && AllPositive(metric.next)) {
    comparison.ratio_interval = MedianRatioInterval(metric.base, metric.next, options.bootstrap);
  } else {
    comparison.ratio_interval = {0, kInfinity};
  }
  return comparison;
}

bool AreAllEqual(const Comparison& comparison) {
  return comparison.ratio_interval == Interval{1, 1} && comparison.p == 1;
}

ChangeVerdict Judge(const Comparison& comparison, const ComparisonOptions& options) {
  const bool significant = comparison.p_adjusted < options.significance;
  if (significant && std::abs(comparison.Change()) > options.threshold) {
    const bool grew = comparison.ratio > 1;
    return grew == (comparison.kind == MeasureKind::kRate) ? ChangeVerdict::kBetter
                                                           : ChangeVerdict::kWorse;
  }
  if (AreAllEqual(comparison)) return ChangeVerdict::kSame;
  const uint64_t runs = std::min(comparison.base_runs, comparison.next_runs);
  const bool is_within =
      comparison.ratio_interval.Within(1 - options.threshold, 1 + options.threshold);
  return is_within && runs >= FewestRuns(1, options.significance, comparison.is_paired)
             ? ChangeVerdict::kSame
             : ChangeVerdict::kCannotTell;
}

// An interval's width shrinks with the root of the number of runs. Beyond the threshold the change
// must stand out from none; within it, the interval must fit within the threshold.
uint64_t RunsNeeded(const Comparison& comparison, uint64_t tested,
                    const ComparisonOptions& options) {
  const auto runs = static_cast<double>(std::min(comparison.base_runs, comparison.next_runs));
  uint64_t needed = std::max(FewestRuns(tested, options.significance, comparison.is_paired),
                             std::min(comparison.base_runs, comparison.next_runs) + 1);
  const Interval& interval = comparison.ratio_interval;
  const bool has_width = runs > 1 && interval.low > 0 && std::isfinite(interval.high);
  if (!has_width) return needed;
  const double change = std::abs(comparison.Change());
  double factor = 0;
  if (change > options.threshold) {
    constexpr double kFound = 0.9;
    const double confidence = options.bootstrap.confidence;
    const double half = (std::log(interval.high) - std::log(interval.low)) / 2;
    const double error = half / NormalQuantile((1 + confidence) / 2);
    const double level = options.significance / static_cast<double>(std::max<uint64_t>(tested, 1));
    factor = (NormalQuantile(1 - level / 2) + NormalQuantile(kFound)) * error /
             std::abs(std::log(comparison.ratio));
  } else {
    factor = (interval.high - interval.low) / 2 / (options.threshold - change);
  }
  const double estimate = std::ceil(runs * factor * factor);
  if (!(estimate < static_cast<double>(kRunsNeededMax))) return kRunsNeededMax + 1;
  return std::max(needed, static_cast<uint64_t>(estimate));
}

}  // namespace

MeasureKind MeasureKindOfUnit(std::string_view unit) {
  if (unit.ends_with("/s") || unit.ends_with("/second")) return MeasureKind::kRate;
  constexpr std::array<std::string_view, 7> kSizes = {"bytes", "B",  "KiB",  "MiB",
                                                      "GiB",   "MB", "count"};
  const std::string_view quantity = unit.substr(0, unit.find('/'));
  const bool size = std::find(kSizes.begin(), kSizes.end(), quantity) != kSizes.end();
  return size ? MeasureKind::kSize : MeasureKind::kDuration;
}

std::string_view VerdictWord(ChangeVerdict verdict, MeasureKind kind) {
  const bool size = kind == MeasureKind::kSize;
  switch (verdict) {
    case ChangeVerdict::kBetter:
      return size ? "smaller" : "faster";
    case ChangeVerdict::kWorse:
      return size ? "larger" : "slower";
    case ChangeVerdict::kSame:
    case ChangeVerdict::kCannotTell:
    case ChangeVerdict::kNotTested:
      break;
  }
  return TextOf(verdict);
}

bool Comparison::IsNotWorse(const ComparisonOptions& options) const {
  if (verdict == ChangeVerdict::kBetter || verdict == ChangeVerdict::kSame) return true;
  if (verdict != ChangeVerdict::kCannotTell) return false;
  const uint64_t runs = std::min(base_runs, next_runs);
  if (runs < FewestRuns(1, options.significance, is_paired)) return false;
  return kind == MeasureKind::kRate ? ratio_interval.low >= 1 - options.threshold
                                    : ratio_interval.high <= 1 + options.threshold;
}

// With n runs a side there are C(2n, n) orders, with n pairs 2^n choices of signs; the two extreme
// ones have the least p.
uint64_t FewestRuns(uint64_t tested, double significance, bool is_paired) {
  double orders = 2;
  for (uint64_t runs = 1; runs < kRunsNeededMax; ++runs) {
    if (2 * static_cast<double>(tested) / orders < significance) return runs;
    const auto n = static_cast<double>(runs + 1);
    orders *= is_paired ? 2 : 2 * (2 * n - 1) / n;
  }
  return kRunsNeededMax;
}

std::vector<Comparison> CompareAll(std::span<const MetricSamples> metrics,
                                   const ComparisonOptions& options) {
  std::vector<Comparison> comparisons;
  std::vector<double> p_values;
  for (const MetricSamples& metric : metrics) {
    comparisons.push_back(Measure(metric, options));
    if (metric.is_tested) p_values.push_back(comparisons.back().p);
  }
  const std::vector<double> adjusted = HolmAdjusted(p_values);
  size_t tested = 0;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    Comparison& comparison = comparisons[i];
    if (!metrics[i].is_tested) {
      comparison.verdict = ChangeVerdict::kNotTested;
      continue;
    }
    comparison.p_adjusted = adjusted[tested++];
    comparison.verdict = Judge(comparison, options);
    if (comparison.verdict != ChangeVerdict::kCannotTell) continue;
    comparison.runs_needed = RunsNeeded(comparison, adjusted.size(), options);
  }
  return comparisons;
}

}  // namespace schedq
