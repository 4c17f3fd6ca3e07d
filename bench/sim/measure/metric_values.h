// The values of all metrics at one instant, and the differences between two instants.
//
// Purpose: a measured section reports only its own counts, while registries are never reset.
// Threads: pure data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "engine/base/metrics/metrics.h"
#include "perf/documents/data_items.h"

namespace schedq {

struct MetricSeries {
  MetricKind kind = MetricKind::kCounter;
  std::vector<std::string> labels;  // The names of the labels.
  std::map<LabelValues, MetricSample> by_values;
};

class MetricValues {
 public:
  // Adds the present values of the registry, except the family `without` (empty: all families).
  void Read(const MetricsRegistry& registry, const std::string& without = "");

  // Counters and histograms hold their increase since `before`, gauges their present values.
  MetricValues Since(const MetricValues& before) const;

  // The counts that are not 0, by sample names such as `name{label="value"}`. A histogram gives its
  // count, as `NAME_count`.
  std::map<std::string, uint64_t> Counters() const;

  // The items that a workload file asks for, in its order. A metric or combination of labels
  // without a value gives no item. Durations are in ms. A histogram gives Average and percentiles;
  // any other metric gives its sum as Average.
  std::vector<DataItem> Items(const MetricsConfig& config) const;

 private:
  std::map<std::string, MetricSeries> families_;
};

// The quantile by the rule of Prometheus' histogram_quantile: linear inside a bucket, and the last
// bound for values beyond it.
double HistogramQuantile(const HistogramValue& histogram, double fraction);

}  // namespace schedq
