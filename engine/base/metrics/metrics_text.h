// The text form of metrics that Prometheus reads, and the adapter for prometheus-cpp's exposer.
//
// Threads: any; reading takes the locks of the registry and its families.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "engine/base/metrics/metrics.h"

namespace schedq {

// Register it with a prometheus::Exposer. The registry outlives it.
class MetricsCollectable final : public prometheus::Collectable {
 public:
  explicit MetricsCollectable(const MetricsRegistry* registry) : registry_(registry) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const MetricsRegistry* registry_;
};

// Whole: where memory runs out they throw std::bad_alloc.
std::string MetricsText(const std::vector<prometheus::MetricFamily>& families);
std::string MetricsText(const MetricsRegistry& registry);

}  // namespace schedq
