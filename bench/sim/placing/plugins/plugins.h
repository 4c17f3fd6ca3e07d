// What each file of this folder makes.
#pragma once

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/placing_plugin.h"

namespace schedq {

PlacingPluginRef MakeNodeUnschedulable();
PlacingPluginRef MakeTaintToleration();
PlacingPluginRef MakeNodeAffinity();
PlacingPluginRef MakeNodeResourcesFit(const PlacingTools& tools);
PlacingPluginRef MakeDynamicResources(const PlacingTools& tools);
PlacingPluginRef MakeDefaultPreemption(const PlacingTools& tools);

}  // namespace schedq
