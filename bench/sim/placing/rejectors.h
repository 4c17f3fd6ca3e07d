// The queue's numbers of the plugins that rejected a pod.
//
// Purpose: a decision names placing plugins by their bits; the queue wants the set of plugins whose
// events may help the pod.
// Threads: immutable once made.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "engine/plugin.h"
#include "hints/registry.h"

namespace schedq {

class Rejectors {
 public:
  // A placing plugin that rejects pods should have its queue-facing half in the registry. A pod
  // that is rejected only by others fails as after an error, and comes back by itself.
  Rejectors(const Framework& placing, const PluginRegistry& registry);

  size_t size() const { return plugins_.size(); }
  // Of a plugin by its number in the framework.
  PluginSet Of(size_t number) const {
    return plugins_[number] != kNoPlugin ? PluginSet::Of(plugins_[number]) : PluginSet();
  }
  // Of a decision without a node. None: it is an error.
  PluginSet Of(const Decision& decision) const;

 private:
  std::vector<PluginId> plugins_;  // By their numbers in the framework; kNoPlugin: no such half.
};

}  // namespace schedq
