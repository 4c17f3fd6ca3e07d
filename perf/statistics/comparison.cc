#include "perf/statistics/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

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

Comparison Measure(const MetricSamples& metric, const ComparisonOptions& options) {
  Comparison comparison;
  comparison.name = metric.name;
  comparison.kind = metric.kind;
  comparison.base_median = Median(metric.base);
  comparison.next_median = Median(metric.next);
  comparison.ratio = RatioOf(comparison.base_median, comparison.next_median);
  comparison.p = MannWhitney(metric.base, metric.next).p_two_sided;
  if (AllAre(metric.base, metric.base[0]) && AllAre(metric.next, metric.base[0])) {
    comparison.ratio_interval = {1, 1};
  } else if (AllPositive(metric.base) && AllPositive(metric.next)) {
    comparison.ratio_interval = MedianRatioInterval(metric.base, metric.next, options.bootstrap);
  } else {
    comparison.ratio_interval = {0, kInfinity};
  }
  return comparison;
}

ChangeVerdict Judge(const Comparison& comparison, const ComparisonOptions& options) {
  const bool significant = comparison.p_adjusted < options.significance;
  if (significant && std::abs(comparison.Change()) > options.threshold) {
    const bool grew = comparison.ratio > 1;
    return grew == (comparison.kind == MeasureKind::kRate) ? ChangeVerdict::kBetter
                                                           : ChangeVerdict::kWorse;
  }
  if (comparison.ratio_interval.Within(1 - options.threshold, 1 + options.threshold)) {
    return ChangeVerdict::kSame;
  }
  return ChangeVerdict::kInconclusive;
}

}  // namespace

MeasureKind MeasureKindOfUnit(std::string_view unit) {
  if (unit.ends_with("/s") || unit.ends_with("/second")) return MeasureKind::kRate;
  constexpr std::array<std::string_view, 6> kSizes = {"bytes", "B", "KiB", "MiB", "GiB", "count"};
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
    case ChangeVerdict::kInconclusive:
      break;
  }
  return TextOf(verdict);
}

std::vector<Comparison> CompareAll(std::span<const MetricSamples> metrics,
                                   const ComparisonOptions& options) {
  std::vector<Comparison> comparisons;
  std::vector<double> p_values;
  for (const MetricSamples& metric : metrics) {
    comparisons.push_back(Measure(metric, options));
    p_values.push_back(comparisons.back().p);
  }
  const std::vector<double> adjusted = HolmAdjusted(p_values);
  for (size_t i = 0; i < comparisons.size(); ++i) {
    comparisons[i].p_adjusted = adjusted[i];
    comparisons[i].verdict = Judge(comparisons[i], options);
  }
  return comparisons;
}

}  // namespace schedq
