// The built-in plugins, one function each, and all of them in the order of the default profile.
//
// Their hints follow kube-scheduler's plugins of the same names, as far as a pod and an object
// carry the facts. Each plugin's own file says what it leaves out.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gates.h"
#include "hints/plugin.h"
#include "hints/world.h"

namespace schedq {

Plugin SchedulingGatesPlugin();
Plugin NodeNamePlugin();
Plugin NodeUnschedulablePlugin();
Plugin TaintTolerationPlugin();
Plugin NodeAffinityPlugin();
Plugin NodePortsPlugin();
Plugin NodeDeclaredFeaturesPlugin();
Plugin NodeResourcesFitPlugin();
Plugin VolumeRestrictionsPlugin();
Plugin NodeVolumeLimitsPlugin();
Plugin VolumeBindingPlugin();
Plugin VolumeZonePlugin();
Plugin PodTopologySpreadPlugin();
Plugin InterPodAffinityPlugin();
// These three ask `world`, which must outlive them.
Plugin DynamicResourcesPlugin(const World* world);
Plugin GangSchedulingPlugin(const World* world);
// `has_groups`: members of a group wait for the victims of their group. `is_async`: pods wait for
// victims while these are deleted.
Plugin DefaultPreemptionPlugin(const World* world, bool has_groups = false, bool is_async = true);

// Whether pods have rules (engine/pod_rules.h) that keep pods away from nodes by what else is
// there.
enum class PodRulesUse : uint8_t { kSome, kNone };

// GangScheduling is among them where the gate GenericWorkload is on. Where no pod has rules,
// NodeName and the plugins that judge rules are left out: they would reject nobody, and a queue
// that heard of each pod that comes to a node for their sake would do so in vain.
std::vector<Plugin> BuiltinPlugins(const World* world, const Gates& gates = Gates(),
                                   PodRulesUse rules = PodRulesUse::kSome);

}  // namespace schedq
