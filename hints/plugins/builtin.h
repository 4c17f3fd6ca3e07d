// The built-in plugins, one function each, and all of them in the order of the default profile.
//
// Their hints follow kube-scheduler's plugins of the same names, as far as a pod and an object
// carry the facts. Each plugin's own file says what it leaves out.
#pragma once

#include <vector>

#include "engine/gates.h"
#include "hints/plugin.h"
#include "hints/world.h"

namespace schedq {

Plugin SchedulingGatesPlugin();
Plugin NodeUnschedulablePlugin();
Plugin TaintTolerationPlugin();
Plugin NodeAffinityPlugin();
Plugin NodeResourcesFitPlugin();
// These three ask `world`, which must outlive them.
Plugin DynamicResourcesPlugin(const World* world);
Plugin GangSchedulingPlugin(const World* world);
Plugin DefaultPreemptionPlugin(const World* world);

// GangScheduling is among them where the gate GenericWorkload is on.
std::vector<Plugin> BuiltinPlugins(const World* world, const Gates& gates = Gates());

}  // namespace schedq
