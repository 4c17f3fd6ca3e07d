// The steps of PreBind, of all plugins one after the other.
// Threads: pure functions over plugins, which any thread may ask; PreBind on the cluster's thread.
#pragma once

#include <cstddef>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/placing_plugin.h"

namespace schedq {

// What the plugins' PreBindPreFlight says: how many steps there are. None: the binding is sent at
// once.
size_t PreBindSteps(const PlacingPlugins& plugins, const Decision& decision);

// Takes one of the steps, a call to the API server. False: the binding fails.
bool PreBind(const PlacingPlugins& plugins, size_t step, Cluster* cluster, const ClusterPod& pod,
             const Decision& decision);

}  // namespace schedq
