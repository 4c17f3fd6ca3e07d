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
  // Each placing plugin has its queue-facing half in the registry.
  Rejectors(const Framework& placing, const PluginRegistry& registry);

  size_t size() const { return plugins_.size(); }
  // Of a plugin by its number in the framework.
  PluginSet Of(size_t number) const { return PluginSet::Of(plugins_[number]); }
  // Of a decision without a node. None: it is an error.
  PluginSet Of(const Decision& decision) const;

 private:
  std::vector<PluginId> plugins_;  // By their numbers in the framework.
};

}  // namespace schedq
