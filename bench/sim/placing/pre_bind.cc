#include "bench/sim/placing/pre_bind.h"

namespace schedq {

size_t PreBindSteps(const PlacingPlugins& plugins, const Decision& decision) {
  size_t steps = 0;
  for (const auto& plugin : plugins) steps += plugin->PreBindPreFlight(decision);
  return steps;
}

bool PreBind(const PlacingPlugins& plugins, size_t step, Cluster* cluster, const ClusterPod& pod,
             const Decision& decision) {
  for (const auto& plugin : plugins) {
    const size_t steps = plugin->PreBindPreFlight(decision);
    if (step < steps) return plugin->PreBind(step, cluster, pod, decision);
    step -= steps;
  }
  return true;
}

}  // namespace schedq
