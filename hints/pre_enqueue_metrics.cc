#include "hints/pre_enqueue_metrics.h"

#include <chrono>
#include <string>

namespace schedq {

PreEnqueueMetrics::PreEnqueueMetrics(const PluginRegistry& plugins, MetricsRegistry* metrics,
                                     MonotonicTime (*now)())
    : now_(now == nullptr ? SteadyNow : now) {
  if (metrics == nullptr) return;
  HistogramFamily& durations =
      metrics->Histograms({.name = "scheduler_plugin_execution_duration_seconds",
                           .help = "How long a plugin took at an extension point.",
                           .labels = {"plugin", "extension_point", "status"}},
                          ExponentialBounds(1e-5, 1.5, 20));
  for (const std::string& name : plugins.Names()) {
    series_.push_back({durations.At({name, "PreEnqueue", "Success"}),
                       durations.At({name, "PreEnqueue", "UnschedulableAndUnresolvable"}),
                       std::make_unique<Sampled>()});
  }
}

}  // namespace schedq
