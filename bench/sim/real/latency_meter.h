// Latencies that one thread measures and another one reads in the meantime.
//
// Threads: Record by one thread; Take by any. They meet at a lock that Take holds for a copy only.
// Memory: two histograms.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "engine/base/time/time.h"
#include "perf/statistics/histogram.h"

namespace schedq {

class LatencyMeter {
 public:
  void Record(Duration latency) {
    const std::lock_guard lock(mutex_);
    histogram_.Record(static_cast<uint64_t>(latency.count() < 0 ? 0 : latency.count()));
  }
  // What was recorded since the last Take.
  LatencyHistogram Take() {
    LatencyHistogram taken;
    const std::lock_guard lock(mutex_);
    std::swap(taken, histogram_);
    return taken;
  }

 private:
  std::mutex mutex_;  // Guards histogram_.
  LatencyHistogram histogram_;
};

}  // namespace schedq
