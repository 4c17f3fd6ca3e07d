// What each file of this folder makes.
#pragma once

#include <memory>

#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

std::unique_ptr<const PlacingPlugin> MakeNodeUnschedulable();
std::unique_ptr<const PlacingPlugin> MakeTaintToleration();
std::unique_ptr<const PlacingPlugin> MakeNodeAffinity();
std::unique_ptr<const PlacingPlugin> MakeNodeResourcesFit(ResourceTable* resources);
std::unique_ptr<const PlacingPlugin> MakeDynamicResources(ClaimBook* claims);

}  // namespace schedq
