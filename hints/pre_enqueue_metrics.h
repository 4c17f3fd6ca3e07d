// The metric of PreEnqueue: how often each plugin was asked, with which answer, how long it took.
//
// Purpose: scheduler_plugin_execution_duration_seconds{plugin,extension_point,status}. Counts are
// exact. Reading the clock costs more than most plugins, so one check in kChecksPerTiming is timed,
// and the others count with the latest duration that was measured.
// Threads: any, concurrently; wait-free, no allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/atom.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"
#include "hints/registry.h"

namespace schedq {

class PreEnqueueMetrics {
 public:
  static constexpr uint32_t kChecksPerTiming = 64;

  // `metrics` may be null: nothing is counted. `now` null: the machine's steady clock.
  PreEnqueueMetrics(const PluginRegistry& plugins, MetricsRegistry* metrics,
                    MonotonicTime (*now)());

  bool enabled() const { return !series_.empty(); }

  // Whether the check that begins is timed.
  bool TimesNext() const;

  // Asks the plugin by `ask()`, counts, and returns its answer.
  template <typename Ask>
  bool Count(PluginId plugin, bool is_timed, Ask ask) const {
    const Series& series = series_[plugin];
    const MonotonicTime started = is_timed ? now_() : MonotonicTime();
    const bool passes = ask();
    // Relaxed: whichever duration was measured lately.
    if (is_timed) StoreRelaxed(*series.latest, Packed(series, now_() - started));
    const uint64_t latest = LoadRelaxed(*series.latest);
    (passes ? series.passed : series.rejected)
        .ObserveIn(latest & kBucketMask, Duration(latest >> kBucketBits));
    return passes;
  }

 private:
  struct Series {
    Histogram passed;
    Histogram rejected;
    // The latest duration with its bucket, which takes longer to find than to count in. Written by
    // any thread that timed a check of this plugin.
    std::unique_ptr<std::atomic<uint64_t>> latest;
  };

  static constexpr int kBucketBits = 8;
  static constexpr uint64_t kBucketMask = (uint64_t{1} << kBucketBits) - 1;

  static uint64_t Packed(const Series& series, Duration duration) {
    // Both histograms have the same bounds.
    return static_cast<uint64_t>(duration.count()) << kBucketBits |
           series.passed.BucketOf(duration);
  }

  MonotonicTime (*now_)();
  std::vector<Series> series_;  // By PluginId.
};

}  // namespace schedq
