// What each file of this folder makes.
#pragma once

#include <memory>

#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

std::unique_ptr<const PlacingPlugin> MakeNodeName();
std::unique_ptr<const PlacingPlugin> MakeNodeUnschedulable();
std::unique_ptr<const PlacingPlugin> MakeTaintToleration();
std::unique_ptr<const PlacingPlugin> MakeNodeAffinity();
std::unique_ptr<const PlacingPlugin> MakeNodePorts(PodBook* book);
std::unique_ptr<const PlacingPlugin> MakeNodeResourcesFit(ResourceTable* resources,
                                                          const FitScoring& scoring);
std::unique_ptr<const PlacingPlugin> MakeNodeResourcesBalancedAllocation();
std::unique_ptr<const PlacingPlugin> MakePodTopologySpread(PodBook* book);
std::unique_ptr<const PlacingPlugin> MakeInterPodAffinity(PodBook* book);
std::unique_ptr<const PlacingPlugin> MakeImageLocality();
std::unique_ptr<const PlacingPlugin> MakeDynamicResources(ClaimBook* claims);

}  // namespace schedq
