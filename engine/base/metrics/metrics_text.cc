#include "engine/base/metrics/metrics_text.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cstddef>
#include <cstdint>
#include <ios>
#include <limits>
#include <sstream>
#include <utility>

namespace schedq {
namespace {

prometheus::MetricType TypeOf(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric::Histogram ToHistogram(const HistogramValue& value) {
  prometheus::ClientMetric::Histogram histogram;
  histogram.sample_count = value.count;
  histogram.sample_sum = value.sum;
  uint64_t cumulative = 0;
  for (size_t bucket = 0; bucket < value.counts.size(); ++bucket) {
    cumulative += value.counts[bucket];
    const double bound = bucket < value.bounds.size() ? value.bounds[bucket]
                                                      : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({.cumulative_count = cumulative, .upper_bound = bound});
  }
  return histogram;
}

prometheus::ClientMetric ToClientMetric(const MetricFamilyBase& family,
                                        const MetricSample& sample) {
  prometheus::ClientMetric metric;
  const std::vector<std::string>& names = family.description().labels;
  for (size_t label = 0; label < names.size(); ++label) {
    metric.label.push_back({.name = names[label], .value = sample.label_values[label]});
  }
  switch (family.kind()) {
    case MetricKind::kCounter:
      metric.counter.value = sample.value;
      break;
    case MetricKind::kGauge:
      metric.gauge.value = sample.value;
      break;
    case MetricKind::kHistogram:
      metric.histogram = ToHistogram(sample.histogram);
      break;
  }
  return metric;
}

}  // namespace

std::vector<prometheus::MetricFamily> MetricsCollectable::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  for (const MetricFamilyBase* const family : registry_->Families()) {
    prometheus::MetricFamily converted{.name = family->description().name,
                                       .help = family->description().help,
                                       .type = TypeOf(family->kind()),
                                       .metric = {}};
    for (const MetricSample& sample : family->Read()) {
      converted.metric.push_back(ToClientMetric(*family, sample));
    }
    if (!converted.metric.empty()) families.push_back(std::move(converted));
  }
  return families;
}

std::string MetricsText(const std::vector<prometheus::MetricFamily>& families) {
  std::ostringstream text;
  // A stream keeps it to itself that memory runs out, and what it has is cut.
  text.exceptions(std::ios::badbit);
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

std::string MetricsText(const MetricsRegistry& registry) {
  return MetricsText(MetricsCollectable(&registry).Collect());
}

}  // namespace schedq
