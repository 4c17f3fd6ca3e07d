#include "perf/statistics/summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/base/result.h"

namespace schedq {

std::vector<double> Sorted(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double QuantileOfSorted(std::span<const double> sorted, double fraction) {
  SCHEDQ_CHECK(!sorted.empty(), "a quantile needs at least one value");
  SCHEDQ_CHECK(fraction >= 0 && fraction <= 1, "a quantile's fraction lies in [0, 1]");
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  // Equal neighbours need no interpolation, which could be off by the last bit.
  if (weight == 0 || sorted[below] == sorted[above]) return sorted[below];
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

double Quantile(std::span<const double> values, double fraction) {
  return QuantileOfSorted(Sorted(values), fraction);
}

double Median(std::span<const double> values) { return Quantile(values, 0.5); }

double Mean(std::span<const double> values) {
  SCHEDQ_CHECK(!values.empty(), "a mean needs at least one value");
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double StandardDeviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double MedianAbsoluteDeviation(std::span<const double> values) {
  const double median = Median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - median));
  return Median(distances);
}

Summary Summarize(std::span<const double> values) {
  Summary summary;
  if (values.empty()) return summary;
  const std::vector<double> sorted = Sorted(values);
  summary.count = sorted.size();
  summary.min = sorted.front();
  summary.lower_quartile = QuantileOfSorted(sorted, 0.25);
  summary.median = QuantileOfSorted(sorted, 0.5);
  summary.upper_quartile = QuantileOfSorted(sorted, 0.75);
  summary.max = sorted.back();
  summary.mean = Mean(sorted);
  summary.standard_deviation = StandardDeviation(sorted);
  summary.median_absolute_deviation = MedianAbsoluteDeviation(sorted);
  if (summary.median != 0) summary.spread = (summary.max - summary.min) / std::abs(summary.median);
  return summary;
}

}  // namespace schedq
