// What a KubeSchedulerConfiguration says of the scheduler: its backoff and its profiles.
//
// Purpose: the settings that the simulation follows, as values. The readers beside it
// (scheduler_config.h, plugin_args.h) refuse or note what it does not follow.
// Threads: immutable once read.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "engine/base/time/time.h"

namespace schedq {

// How NodeResourcesFit scores a node: kube-scheduler's scoring strategies.
struct FitScoring {
  enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };
  struct Resource {
    std::string name;
    int64_t weight = 1;
  };
  // Of kRequestedToCapacityRatio: the score, 0 to 10, of a node that is so much in use, in percent.
  // Between two points it is linear. In ascending order, at least one.
  struct Point {
    int64_t utilization = 0;
    int64_t score = 0;
  };

  Strategy strategy = Strategy::kLeastAllocated;
  std::vector<Resource> resources = {{"cpu", 1}, {"memory", 1}};
  std::vector<Point> shape = {};
};

// Where a plugin may be turned off by itself. A plugin's PreFilter and Filter go together, and so
// do its PreScore and Score.
enum class PluginRole : uint8_t {
  kPreEnqueue,
  kFilter,
  kPostFilter,
  kScore,
  kReserve,
  kPermit,
  kPreBind
};
inline constexpr size_t kPluginRoleCount = 7;

// What a profile makes of one plugin that is not as by default.
struct PluginChoice {
  std::array<bool, kPluginRoleCount> is_off{};
  std::optional<int32_t> weight;  // Of its scores; nullopt: the default one.

  bool IsOff(PluginRole role) const { return is_off[static_cast<size_t>(role)]; }
};

struct SchedulerProfile {
  std::string scheduler_name = kDefaultScheduler;
  std::optional<int32_t> percentage_of_nodes;   // nullopt or 0: by the number of nodes.
  std::map<std::string, PluginChoice> plugins;  // By name, those that are not as by default.
  FitScoring fit_scoring;
  // Of what pods on nodes require of their neighbours, as preferences of theirs.
  int32_t hard_pod_affinity_weight = 1;
  bool ignores_preferences_of_others = false;  // ignorePreferredTermsOfExistingPods.
  bool has_default_spread = true;  // Pods without constraints of their own have others by default.
  size_t candidates_min = 100;     // Of DefaultPreemption, as its percentage.
  size_t candidates_percentage = 10;
  Duration volume_bind_timeout = std::chrono::minutes(10);  // bindTimeoutSeconds of VolumeBinding.
  // Pods that say the same may share the search for nodes (gate OpportunisticBatching).
  bool shares_searches = true;

  const PluginChoice& ChoiceOf(const std::string& plugin) const {
    static const PluginChoice kAsByDefault;
    const auto found = plugins.find(plugin);
    return found == plugins.end() ? kAsByDefault : found->second;
  }
};

struct SchedulerSettings {
  std::optional<Duration> pod_initial_backoff;
  std::optional<Duration> pod_max_backoff;
  std::vector<SchedulerProfile> profiles = {SchedulerProfile()};  // At least one.
};

// The names of the schedulers, in the order of their profiles.
inline std::vector<std::string> NamesOf(const SchedulerSettings& settings) {
  std::vector<std::string> names;
  for (const SchedulerProfile& profile : settings.profiles) names.push_back(profile.scheduler_name);
  return names;
}

}  // namespace schedq
