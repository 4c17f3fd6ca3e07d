#include "hints/plugins/builtin.h"

namespace schedq {

std::vector<Plugin> BuiltinPlugins(const World* world, const Gates& gates) {
  std::vector<Plugin> plugins = {SchedulingGatesPlugin(),       NodeUnschedulablePlugin(),
                                 TaintTolerationPlugin(),       NodeAffinityPlugin(),
                                 NodeResourcesFitPlugin(),      DynamicResourcesPlugin(world),
                                 DefaultPreemptionPlugin(world)};
  if (gates.GenericWorkload()) plugins.push_back(GangSchedulingPlugin(world));
  return plugins;
}

}  // namespace schedq
