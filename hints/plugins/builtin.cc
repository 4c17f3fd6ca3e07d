#include "hints/plugins/builtin.h"

namespace schedq {

std::vector<Plugin> BuiltinPlugins(const World* world, const Gates& gates, PodRulesUse rules) {
  const bool with_rules = rules == PodRulesUse::kSome;
  std::vector<Plugin> plugins = {SchedulingGatesPlugin()};
  if (with_rules) plugins.push_back(NodeNamePlugin());
  plugins.push_back(NodeUnschedulablePlugin());
  plugins.push_back(TaintTolerationPlugin());
  plugins.push_back(NodeAffinityPlugin());
  if (with_rules) plugins.push_back(NodePortsPlugin());
  plugins.push_back(NodeResourcesFitPlugin());
  plugins.push_back(VolumeRestrictionsPlugin());
  plugins.push_back(NodeVolumeLimitsPlugin());
  plugins.push_back(VolumeBindingPlugin());
  plugins.push_back(VolumeZonePlugin());
  if (with_rules) plugins.push_back(PodTopologySpreadPlugin());
  if (with_rules) plugins.push_back(InterPodAffinityPlugin());
  plugins.push_back(DynamicResourcesPlugin(world));
  plugins.push_back(DefaultPreemptionPlugin(world, gates.GenericWorkload(),
                                            gates.On(Gate::kSchedulerAsyncPreemption)));
  if (with_rules && gates.On(Gate::kNodeDeclaredFeatures)) {
    plugins.push_back(NodeDeclaredFeaturesPlugin());
  }
  if (gates.GenericWorkload()) plugins.push_back(GangSchedulingPlugin(world));
  return plugins;
}

}  // namespace schedq
