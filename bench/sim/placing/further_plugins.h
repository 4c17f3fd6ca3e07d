// The placing half of plugins that the scheduler was given, as those of a library (--plugin).
//
// They have no file here: what they say at Permit stands in the queue-facing half.
// Threads: as plugins.
#pragma once

#include <vector>

#include "bench/sim/placing/placing_plugin.h"
#include "hints/registry.h"

namespace schedq {

// Of each plugin of the registry that has something to say at Permit. The registry outlives them.
std::vector<PlacingPluginRef> FurtherPlacingPlugins(const PluginRegistry& registry);

}  // namespace schedq
