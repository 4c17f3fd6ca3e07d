// What each file of this folder makes.
#pragma once

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/placing_plugin.h"

namespace schedq {

PlacingPluginRef MakeNodeName();
PlacingPluginRef MakeNodeUnschedulable();
PlacingPluginRef MakeTaintToleration();
PlacingPluginRef MakeNodeAffinity();
PlacingPluginRef MakeNodeDeclaredFeatures();
PlacingPluginRef MakeNodePorts(const PlacingTools& tools);
PlacingPluginRef MakeNodeResourcesFit(const PlacingTools& tools);
PlacingPluginRef MakeNodeResourcesBalancedAllocation();
PlacingPluginRef MakeVolumeRestrictions(const PlacingTools& tools);
PlacingPluginRef MakeNodeVolumeLimits(const PlacingTools& tools);
PlacingPluginRef MakeVolumeBinding(const PlacingTools& tools);
PlacingPluginRef MakeVolumeZone(const PlacingTools& tools);
PlacingPluginRef MakePodTopologySpread(const PlacingTools& tools);
PlacingPluginRef MakeInterPodAffinity(const PlacingTools& tools);
PlacingPluginRef MakeImageLocality();
PlacingPluginRef MakeDynamicResources(const PlacingTools& tools);
PlacingPluginRef MakeDefaultPreemption(const PlacingTools& tools);
PlacingPluginRef MakeGangScheduling(const PlacingTools& tools);
PlacingPluginRef MakeTopologyPlacement();
PlacingPluginRef MakePodGroupPodsCount();

}  // namespace schedq
