#include "perf/statistics/latency.h"

namespace schedq {

LatencySummary LatencySummary::Of(const LatencyHistogram& histogram) {
  LatencySummary summary;
  summary.count = histogram.count();
  summary.total_ns = histogram.total();
  summary.p50_ns = histogram.Percentile(50);
  summary.p90_ns = histogram.Percentile(90);
  summary.p95_ns = histogram.Percentile(95);
  summary.p99_ns = histogram.Percentile(99);
  summary.p99_9_ns = histogram.Percentile(99.9);
  summary.p99_99_ns = histogram.Percentile(99.99);
  summary.max_ns = histogram.max();
  return summary;
}

}  // namespace schedq
