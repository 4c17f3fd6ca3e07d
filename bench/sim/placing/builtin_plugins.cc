#include <memory>
#include <utility>

#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

PlacingPlugins BuiltinPlacingPlugins(ResourceTable* resources, ClaimBook* claims, PodBook* pods,
                                     const FitScoring& scoring) {
  PlacingPlugins plugins;
  const auto add = [&plugins](std::unique_ptr<const PlacingPlugin> plugin) {
    plugins.push_back(std::move(plugin));
  };
  add(MakeNodeName());
  add(MakeNodeUnschedulable());
  add(MakeTaintToleration());
  add(MakeNodeAffinity());
  add(MakeNodePorts(pods));
  add(MakeNodeResourcesFit(resources, scoring));
  add(MakePodTopologySpread(pods));
  add(MakeInterPodAffinity(pods));
  add(MakeDynamicResources(claims));
  add(MakeNodeResourcesBalancedAllocation());
  add(MakeImageLocality());
  return plugins;
}

}  // namespace schedq
