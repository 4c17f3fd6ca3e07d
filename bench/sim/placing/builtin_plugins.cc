#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

PlacingPlugins BuiltinPlacingPlugins(ResourceTable* resources, ClaimBook* claims) {
  return {MakeNodeUnschedulable(), MakeTaintToleration(), MakeNodeAffinity(),
          MakeNodeResourcesFit(resources), MakeDynamicResources(claims)};
}

}  // namespace schedq
