#include "perf/compare/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "perf/compare/differences.h"

namespace schedq {
namespace {

// Exact values need no test: their interval is the ratio itself.
void JudgeExactly(const ComparisonOptions& options, Comparison* comparison) {
  comparison->ratio_interval = {comparison->ratio, comparison->ratio};
  const bool has_changed = comparison->base_median != comparison->next_median;
  comparison->p = has_changed ? 0 : 1;
  comparison->p_adjusted = comparison->p;
  comparison->runs_needed = 0;
  if (comparison->verdict == ChangeVerdict::kNotTested) return;
  comparison->verdict = ChangeVerdict::kSame;
  if (!has_changed || std::abs(comparison->Change()) <= options.threshold) return;
  const bool grew = comparison->ratio > 1;
  comparison->verdict = grew == (comparison->kind == MeasureKind::kRate) ? ChangeVerdict::kBetter
                                                                         : ChangeVerdict::kWorse;
}

bool ArePairs(const std::vector<double>& base, const std::vector<double>& next) {
  const auto is_positive = [](double value) { return value > 0; };
  return base.size() == next.size() && std::all_of(base.begin(), base.end(), is_positive) &&
         std::all_of(next.begin(), next.end(), is_positive);
}

bool IsAskedFor(const std::string& name, const ResultMetric& metric,
                const ChangesRequest& request) {
  return metric.is_asked_for || (request.asked_for && request.asked_for->IsFoundIn(name));
}

}  // namespace

bool Changes::AnyWorse() const { return CountOf(ChangeVerdict::kWorse) > 0; }

size_t Changes::Tested() const { return metrics.size() - CountOf(ChangeVerdict::kNotTested); }

size_t Changes::CountOf(ChangeVerdict verdict) const {
  return static_cast<size_t>(std::count_if(
      metrics.begin(), metrics.end(),
      [verdict](const Change& change) { return change.comparison.verdict == verdict; }));
}

Result<Changes> CompareMetrics(const Results& base, const Results& next,
                               const ChangesRequest& request) {
  Changes changes;
  Result<std::vector<std::string>> differences = DifferencesOf(base, next);
  if (!differences) return differences.error();
  changes.differences = std::move(*differences);
  std::vector<MetricSamples> samples;
  const bool is_exact = base.is_exact() && next.is_exact();
  for (const auto& [name, metric] : base.metrics) {
    const bool is_tested = IsAskedFor(name, metric, request);
    const auto found = next.metrics.find(name);
    if (found == next.metrics.end()) {
      changes.only_base.push_back(name);
      if (is_tested) changes.lost.push_back(name);
      continue;
    }
    samples.push_back({name, metric.kind.value_or(MeasureKindOfUnit(metric.unit)), metric.values,
                       found->second.values, is_tested || found->second.is_asked_for,
                       request.is_paired && ArePairs(metric.values, found->second.values)});
    changes.metrics.push_back({{}, metric.unit, metric.place, metric.what, is_exact});
  }
  for (const auto& [name, metric] : next.metrics) {
    if (base.metrics.count(name) == 0) changes.only_next.push_back(name);
  }
  if (samples.empty()) {
    return Error(fmt::format("{} and {} have no metric in common, expected results of one kind",
                             base.path, next.path));
  }
  std::vector<Comparison> comparisons = CompareAll(samples, request.options);
  for (size_t i = 0; i < comparisons.size(); ++i) {
    changes.metrics[i].comparison = std::move(comparisons[i]);
    if (is_exact) JudgeExactly(request.options, &changes.metrics[i].comparison);
  }
  if (changes.Tested() > 0 || !changes.lost.empty()) return changes;
  return Error(
      fmt::format("{} and {} have no throughput and no threshold in common, expected "
                  "--metric REGEX that says what to compare",
                  base.path, next.path));
}

}  // namespace schedq
