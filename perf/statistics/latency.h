// The percentiles of one latency, as documents hold them.
#pragma once

#include <cstdint>

#include "perf/statistics/histogram.h"

namespace schedq {

struct LatencySummary {
  uint64_t count = 0;
  uint64_t total_ns = 0;
  uint64_t p50_ns = 0;
  uint64_t p90_ns = 0;
  uint64_t p95_ns = 0;
  uint64_t p99_ns = 0;
  uint64_t p99_9_ns = 0;
  uint64_t p99_99_ns = 0;
  uint64_t max_ns = 0;

  bool operator==(const LatencySummary&) const = default;

  // `histogram` holds nanoseconds.
  static LatencySummary Of(const LatencyHistogram& histogram);

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("count", self.count, "How many operations were timed.");
    archive.Field("total_ns", self.total_ns, "Their sum.");
    archive.Field("p50_ns", self.p50_ns, "Percentile, at most 0.1 % above the true one.");
    archive.Field("p90_ns", self.p90_ns, "Percentile.");
    archive.Field("p95_ns", self.p95_ns, "Percentile.");
    archive.Field("p99_ns", self.p99_ns, "Percentile.");
    archive.Field("p99.9_ns", self.p99_9_ns, "Percentile.");
    archive.Field("p99.99_ns", self.p99_99_ns, "Percentile.");
    archive.Field("max_ns", self.max_ns, "The largest, exact.");
  }
};

}  // namespace schedq
