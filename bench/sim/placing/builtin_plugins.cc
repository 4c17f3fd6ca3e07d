#include <vector>

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"

namespace schedq {

std::vector<PlacingPluginRef> BuiltinPlacingPlugins(const PlacingTools& tools) {
  std::vector<PlacingPluginRef> plugins;
  plugins.push_back(MakeNodeName());
  plugins.push_back(MakeNodeUnschedulable());
  plugins.push_back(MakeTaintToleration());
  plugins.push_back(MakeNodeAffinity());
  plugins.push_back(MakeNodePorts(tools));
  plugins.push_back(MakeNodeResourcesFit(tools));
  plugins.push_back(MakeVolumeRestrictions(tools));
  plugins.push_back(MakeNodeVolumeLimits(tools));
  plugins.push_back(MakeVolumeBinding(tools));
  plugins.push_back(MakeVolumeZone(tools));
  plugins.push_back(MakePodTopologySpread(tools));
  plugins.push_back(MakeInterPodAffinity(tools));
  plugins.push_back(MakeDynamicResources(tools));
  plugins.push_back(MakeDefaultPreemption(tools));
  plugins.push_back(MakeNodeResourcesBalancedAllocation());
  plugins.push_back(MakeImageLocality());
  plugins.push_back(MakeNodeDeclaredFeatures());
  if (tools.groups != nullptr) plugins.push_back(MakeGangScheduling(tools));
  if (tools.places_by_topology) {
    plugins.push_back(MakeTopologyPlacement());
    plugins.push_back(MakePodGroupPodsCount());
  }
  return plugins;
}

}  // namespace schedq
