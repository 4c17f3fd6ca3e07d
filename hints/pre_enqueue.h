// Runs the plugins' PreEnqueue functions: the engine's port PreEnqueueCheck over a PluginRegistry.
//
// Threads: any, concurrently; nothing changes but metrics.
// Invariants:
//  1. The plugin named first is asked first, the others in order of registration, each at most
//  once.
//  2. Nobody is asked after the first rejection.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.h"
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

  // A `first` without a PreEnqueue function is as good as none.
  PluginId Check(const Pod& pod, PluginId first) const override;

  // The message of a plugin that rejects the pod now. If it would pass by now, because what it
  // waited for came between the check and this call, the plugin's general rejection message.
  std::string Explain(const Pod& pod, PluginId plugin) const override;

  // What the plugin wants the pod's owner to read of a rejection that was explained with `message`;
  // empty: nothing.
  std::string UserMessage(const Pod& pod, PluginId plugin, std::string_view message) const;

 private:
  // A plugin that has one, and the function, which the registry keeps.
  struct Door {
    PluginId plugin;
    const PreEnqueueFunction* ask;
  };

  bool Passes(const Pod& pod, const Door& door, bool is_timed) const;

  const PluginRegistry& registry_;
  PreEnqueueMetrics metrics_;
  std::vector<Door> doors_;  // In order of registration.
};

}  // namespace schedq
