// The metric of PreEnqueue: how often each plugin was asked, with which answer, how long it took.
//
// Purpose: scheduler_plugin_execution_duration_seconds{plugin,extension_point,status}. Counts are
// exact. To read the clock costs more than most plugins do, so durations are sampled.
// Threads: any, concurrently; wait-free, no allocation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/metrics/sampled_duration.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"
#include "hints/registry.h"

namespace schedq {

class PreEnqueueMetrics {
 public:
  static constexpr uint32_t kChecksPerSample = 64;

  // `metrics` may be null: nothing is counted. `now` null: the machine's steady clock.
  PreEnqueueMetrics(const PluginRegistry& plugins, MetricsRegistry* metrics,
                    MonotonicTime (*now)());

  bool enabled() const { return !series_.empty(); }

  // Whether the plugins of the check that begins are measured.
  bool MeasuresNext() const { return enabled() && Sampled::CountTime(); }

  // Asks the plugin by `ask()`, counts, and returns its answer.
  template <typename Ask>
  bool Count(PluginId plugin, bool is_measured, Ask ask) const {
    const Series& series = series_[plugin];
    const bool measures = is_measured || !series.latest->IsKnown();
    const MonotonicTime started = measures ? now_() : MonotonicTime();
    const bool passes = ask();
    if (measures) {
      // Both histograms have the same bounds.
      const Duration duration = now_() - started;
      series.latest->Set({duration, series.passed.BucketOf(duration)});
    }
    const DurationSample sample = series.latest->Latest();
    (passes ? series.passed : series.rejected).ObserveIn(sample.bucket, sample.duration);
    return passes;
  }

 private:
  using Sampled = SampledDuration<kChecksPerSample>;
  struct Series {
    Histogram passed;
    Histogram rejected;
    std::unique_ptr<Sampled> latest;
  };

  MonotonicTime (*now_)();
  std::vector<Series> series_;  // By PluginId.
};

}  // namespace schedq
