// The values of all metrics at one moment, and what came between two moments.
//
// Purpose: a measured section reports only what happened in it, and registries are never reset.
// Threads: pure data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "engine/base/metrics/metrics.h"
#include "perf/documents/data_items.h"

namespace schedq {

struct MetricSeries {
  MetricKind kind = MetricKind::kCounter;
  std::vector<std::string> labels;  // Their names.
  std::map<LabelValues, MetricSample> by_values;
};

class MetricValues {
 public:
  // Adds what the registry holds now, but for the family `without` (empty: all).
  void Read(const MetricsRegistry& registry, const std::string& without = "");

  // Counters and histograms: what was added since `before`. Gauges: as they are here.
  MetricValues Since(const MetricValues& before) const;

  // "name{label="value"}" to count, for counters; histograms' counts have a name ending in "_count".
  // No zeros.
  std::map<std::string, uint64_t> Counters() const;

  // The items that a workload file asks for, in its order. A metric or combination of labels that
  // did not occur gives none. Durations come in ms; a histogram gives Average and percentiles,
  // anything else its sum as Average.
  std::vector<DataItem> Items(const MetricsConfig& config) const;

 private:
  std::map<std::string, MetricSeries> families_;
};

// As Prometheus' histogram_quantile has it: linear inside the bucket, the last bound beyond it.
double HistogramQuantile(const HistogramValue& histogram, double fraction);

}  // namespace schedq
