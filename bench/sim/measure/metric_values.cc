#include "bench/sim/measure/metric_values.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace schedq {
namespace {

constexpr double kMsPerSecond = 1000;
constexpr std::string_view kSeconds = "_seconds";

bool EndsInSeconds(const std::string& name) {
  return name.size() >= kSeconds.size() &&
         name.compare(name.size() - kSeconds.size(), kSeconds.size(), kSeconds) == 0;
}

void Add(const MetricSample& sample, MetricSample* sum, double sign = 1) {
  sum->value += sign * sample.value;
  HistogramValue& into = sum->histogram;
  if (into.bounds.empty()) {
    into.bounds = sample.histogram.bounds;
    into.counts.resize(sample.histogram.counts.size());
  }
  const uint64_t factor = sign > 0 ? 1 : ~uint64_t{0};  // The product wraps, which subtracts.
  for (size_t i = 0; i < into.counts.size(); ++i) {
    into.counts[i] += factor * sample.histogram.counts[i];
  }
  into.count += factor * sample.histogram.count;
  into.sum += sign * sample.histogram.sum;
}

// The wanted value of each label.
using Combination = std::map<std::string, std::string>;

// All combinations of the configured values. A label without values matches every value.
std::vector<Combination> Combinations(const std::vector<MetricLabel>& wanted,
                                      const MetricSeries& series) {
  std::vector<Combination> combinations = {{}};
  for (const MetricLabel& label : wanted) {
    std::set<std::string> occurring;
    const auto at = std::find(series.labels.begin(), series.labels.end(), label.label);
    if (label.values.empty() && at != series.labels.end()) {
      for (const auto& [values, sample] : series.by_values) {
        occurring.insert(values[static_cast<size_t>(at - series.labels.begin())]);
      }
    }
    std::vector<std::string> values = label.values;
    values.insert(values.end(), occurring.begin(), occurring.end());
    std::vector<Combination> longer;
    for (const Combination& combination : combinations) {
      for (const std::string& value : values) {
        longer.push_back(combination);
        longer.back()[label.label] = value;
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

bool Matches(const Combination& wanted, const std::vector<std::string>& labels,
             const LabelValues& values) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& want) {
    const auto at = std::find(labels.begin(), labels.end(), want.first);
    return at != labels.end() && values[static_cast<size_t>(at - labels.begin())] == want.second;
  });
}

std::optional<MetricSample> Sum(const MetricSeries& series, const Combination& wanted) {
  std::optional<MetricSample> sum;
  for (const auto& [values, sample] : series.by_values) {
    if (!Matches(wanted, series.labels, values)) continue;
    if (!sum) sum.emplace();
    Add(sample, &*sum);
  }
  return sum;
}

DataItem ItemOf(const std::string& name, MetricKind kind, const MetricSample& sample) {
  const bool is_duration = EndsInSeconds(name);
  const double factor = is_duration ? kMsPerSecond : 1;
  DataItem item;
  item.unit = is_duration ? "ms" : "count";
  if (kind != MetricKind::kHistogram) {
    item.data["Average"] = sample.value * factor;
    return item;
  }
  const HistogramValue& histogram = sample.histogram;
  item.data["Average"] = histogram.sum / static_cast<double>(histogram.count) * factor;
  item.data["Perc50"] = HistogramQuantile(histogram, 0.50) * factor;
  item.data["Perc90"] = HistogramQuantile(histogram, 0.90) * factor;
  item.data["Perc95"] = HistogramQuantile(histogram, 0.95) * factor;
  item.data["Perc99"] = HistogramQuantile(histogram, 0.99) * factor;
  return item;
}

}  // namespace

double HistogramQuantile(const HistogramValue& histogram, double fraction) {
  const double rank = fraction * static_cast<double>(histogram.count);
  uint64_t below = 0;
  for (size_t i = 0; i < histogram.bounds.size(); ++i) {
    const uint64_t inside = histogram.counts[i];
    if (static_cast<double>(below + inside) >= rank && inside > 0) {
      const double low = i == 0 ? 0 : histogram.bounds[i - 1];
      const double part = (rank - static_cast<double>(below)) / static_cast<double>(inside);
      return low + (histogram.bounds[i] - low) * part;
    }
    below += inside;
  }
  return histogram.bounds.empty() ? 0 : histogram.bounds.back();
}

void MetricValues::Read(const MetricsRegistry& registry, const std::string& without) {
  for (const MetricFamilyBase* family : registry.Families()) {
    const MetricDescription& description = family->description();
    if (description.name == without) continue;
    MetricSeries& series = families_[description.name];
    series.kind = family->kind();
    series.labels = description.labels;
    for (MetricSample& sample : family->Read()) {
      LabelValues values = sample.label_values;
      series.by_values[std::move(values)] = std::move(sample);
    }
  }
}

MetricValues MetricValues::Since(const MetricValues& before) const {
  MetricValues since = *this;
  for (auto& [name, series] : since.families_) {
    const auto earlier = before.families_.find(name);
    if (series.kind == MetricKind::kGauge || earlier == before.families_.end()) continue;
    for (auto& [values, sample] : series.by_values) {
      const auto found = earlier->second.by_values.find(values);
      if (found != earlier->second.by_values.end()) Add(found->second, &sample, -1);
    }
  }
  return since;
}

std::map<std::string, uint64_t> MetricValues::Counters() const {
  std::map<std::string, uint64_t> counters;
  for (const auto& [name, series] : families_) {
    if (series.kind == MetricKind::kGauge) continue;
    for (const auto& [values, sample] : series.by_values) {
      if (sample.value == 0) continue;
      std::string text;
      for (size_t i = 0; i < values.size(); ++i) {
        text += (i == 0 ? "" : ",") + series.labels[i] + "=\"" + values[i] + '"';
      }
      const std::string suffix = series.kind == MetricKind::kHistogram ? "_count" : "";
      counters[name + suffix + (text.empty() ? "" : "{" + text + "}")] =
          static_cast<uint64_t>(sample.value);
    }
  }
  return counters;
}

std::vector<DataItem> MetricValues::Items(const MetricsConfig& config) const {
  std::vector<DataItem> items;
  for (const auto& [name, wanted] : config) {
    const auto family = families_.find(name);
    if (family == families_.end()) continue;
    for (const Combination& combination : Combinations(wanted, family->second)) {
      const std::optional<MetricSample> sum = Sum(family->second, combination);
      if (!sum) continue;
      const bool is_histogram = family->second.kind == MetricKind::kHistogram;
      if (is_histogram && sum->histogram.count == 0) continue;
      DataItem item = ItemOf(name, family->second.kind, *sum);
      item.labels = combination;
      item.labels["Metric"] = name;
      items.push_back(std::move(item));
    }
  }
  return items;
}

}  // namespace schedq
