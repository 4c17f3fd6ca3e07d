// The queue's numbers of the plugins that rejected a pod.
//
// Purpose: a decision names placing plugins by their bits; the queue wants the set of plugins whose
// events may help the pod.
// Threads: immutable once made.
#pragma once

#include <array>

#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/placing_plugin.h"
#include "engine/plugin.h"
#include "hints/registry.h"

namespace schedq {

class Rejectors {
 public:
  // Each placing plugin that rejects any pod has its queue-facing half in the registry. A pod that
  // is rejected only by others fails as after an error, and comes back by itself.
  Rejectors(const PlacingPlugins& placing, const PluginRegistry& registry);

  // Of a decision without a node. None: it is an error.
  PluginSet Of(const Decision& decision) const;

 private:
  std::array<PluginId, kPlacingPluginsMax> plugins_{};  // By PlacingPluginId.
};

}  // namespace schedq
