#include "bench/sim/placing/profile_plugins.h"

#include <algorithm>
#include <string>
#include <utility>

#include "bench/sim/cluster/cluster_objects.h"
#include "engine/pod.h"

namespace schedq {

std::vector<Plugin> WithProfiles(std::vector<Plugin> plugins, const SchedulerSettings& settings) {
  for (Plugin& plugin : plugins) {
    std::vector<std::string> without;
    for (const SchedulerProfile& profile : settings.profiles) {
      if (!profile.ChoiceOf(plugin.name).IsOff(PluginRole::kPreEnqueue)) continue;
      without.push_back(profile.scheduler_name);
    }
    if (without.empty() || !plugin.pre_enqueue) continue;
    plugin.pre_enqueue = [without = std::move(without), may_enter = std::move(plugin.pre_enqueue)](
                             const Pod& pod, std::string* message) {
      const std::string& scheduler = AsClusterPod(pod).scheduler_name();
      const bool is_off = std::find(without.begin(), without.end(), scheduler) != without.end();
      return is_off || may_enter(pod, message);
    };
  }
  return plugins;
}

}  // namespace schedq
