#include "hints/plugins/builtin.h"

namespace schedq {

std::vector<Plugin> BuiltinPlugins(const World* world) {
  return {SchedulingGatesPlugin(),       NodeUnschedulablePlugin(), TaintTolerationPlugin(),
          NodeAffinityPlugin(),          NodeResourcesFitPlugin(),  DynamicResourcesPlugin(world),
          DefaultPreemptionPlugin(world)};
}

}  // namespace schedq
