// Runs the plugins' PreEnqueue functions: the engine's port PreEnqueueCheck over a PluginRegistry.
//
// Threads: any, concurrently; nothing changes but metrics.
// Invariants:
//  1. The plugin `first` is asked first, the others in order of registration, each at most once.
//  2. No plugin is asked after the first rejection.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "hints/plugin.h"
#include "hints/pre_enqueue_metrics.h"
#include "hints/registry.h"

namespace schedq {

struct PreEnqueueOptions {
  MetricsRegistry* metrics = nullptr;  // Null: nothing is counted.
  // For the durations in metrics; null: the machine's steady clock.
  MonotonicTime (*now)() = nullptr;
};

class PluginPreEnqueue : public PreEnqueueCheck {
 public:
  // `registry` and the options' metrics must outlive this.
  explicit PluginPreEnqueue(const PluginRegistry& registry, const PreEnqueueOptions& options = {});

  // A `first` without a PreEnqueue function counts as none.
  PluginId Check(const Pod& pod, PluginId first) const override;

  // The message of a plugin that rejects the pod. What the pod waited for may have come between the
  // check and this call, so that the plugin would pass it: then the plugin's rejection_message.
  std::string Explain(const Pod& pod, PluginId plugin) const override;

  // The plugin's text for the pod's owner about a rejection that was explained with `message`;
  // empty: nothing is shown.
  std::string UserMessage(const Pod& pod, PluginId plugin, std::string_view message) const;

 private:
  // A plugin that has a PreEnqueue function, and that function, which the registry owns.
  struct PluginCheck {
    PluginId plugin;
    const PreEnqueueFunction* ask;
  };

  bool Passes(const Pod& pod, const PluginCheck& check, bool is_measured) const;

  const PluginRegistry& registry_;
  PreEnqueueMetrics metrics_;
  std::vector<PluginCheck> checks_;  // In order of registration.
};

}  // namespace schedq
