#include "perf/compare/changes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace schedq {
namespace {

// Exact values need no test: their interval is the ratio itself.
void JudgeExactly(const ComparisonOptions& options, Comparison* comparison) {
  comparison->ratio_interval = {comparison->ratio, comparison->ratio};
  const bool has_changed = comparison->base_median != comparison->next_median;
  comparison->p = has_changed ? 0 : 1;
  comparison->p_adjusted = comparison->p;
  comparison->verdict = ChangeVerdict::kSame;
  if (!has_changed || std::abs(comparison->Change()) <= options.threshold) return;
  const bool grew = comparison->ratio > 1;
  comparison->verdict = grew == (comparison->kind == MeasureKind::kRate) ? ChangeVerdict::kBetter
                                                                         : ChangeVerdict::kWorse;
}

}  // namespace

bool Changes::AnyWorse() const {
  return std::any_of(metrics.begin(), metrics.end(), [](const Change& change) {
    return change.comparison.verdict == ChangeVerdict::kWorse;
  });
}

Changes CompareMetrics(const Results& base, const Results& next, const ComparisonOptions& options) {
  Changes changes;
  std::vector<MetricSamples> samples;
  const bool is_exact = base.is_exact() && next.is_exact();
  for (const auto& [name, metric] : base.metrics) {
    const auto found = next.metrics.find(name);
    if (found == next.metrics.end()) {
      changes.only_base.push_back(name);
      continue;
    }
    samples.push_back({name, MeasureKindOfUnit(metric.unit), metric.values, found->second.values});
    Change& change = changes.metrics.emplace_back();
    change.unit = metric.unit;
    change.is_exact = is_exact;
  }
  for (const auto& [name, metric] : next.metrics) {
    if (base.metrics.count(name) == 0) changes.only_next.push_back(name);
  }
  const std::vector<Comparison> comparisons = CompareAll(samples, options);
  for (size_t i = 0; i < comparisons.size(); ++i) {
    changes.metrics[i].comparison = comparisons[i];
    if (is_exact) JudgeExactly(options, &changes.metrics[i].comparison);
  }
  return changes;
}

}  // namespace schedq
