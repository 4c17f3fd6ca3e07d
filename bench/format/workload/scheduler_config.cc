#include "bench/format/workload/scheduler_config.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/workload/plugin_args.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

using Role = PluginRole;

constexpr uint32_t BitOf(Role role) { return 1u << static_cast<int>(role); }
constexpr uint32_t Bits(std::initializer_list<Role> roles) {
  uint32_t bits = 0;
  for (const Role role : roles) bits |= BitOf(role);
  return bits;
}

struct KnownPlugin {
  std::string_view name;
  uint32_t roles;
  // Whether the simulation does without its filter. What others keep is an invariant of the cache.
  bool may_lose_filter = false;
};

// kube-scheduler's own, with those of their extension points that can be turned off.
constexpr std::array<KnownPlugin, 24> kPlugins = {{
    {"SchedulingGates", Bits({Role::kPreEnqueue})},
    {"PrioritySort", 0},
    {"NodeName", Bits({Role::kFilter}), true},
    {"NodeUnschedulable", Bits({Role::kFilter}), true},
    {"TaintToleration", Bits({Role::kFilter, Role::kScore}), true},
    {"NodeAffinity", Bits({Role::kFilter, Role::kScore})},
    {"NodePorts", Bits({Role::kFilter})},
    {"NodeResourcesFit", Bits({Role::kFilter, Role::kScore})},
    {"VolumeRestrictions", Bits({Role::kFilter})},
    {"NodeVolumeLimits", Bits({Role::kFilter, Role::kScore})},
    {"VolumeBinding", Bits({Role::kFilter, Role::kScore, Role::kReserve, Role::kPreBind})},
    {"VolumeZone", Bits({Role::kFilter})},
    {"PodTopologySpread", Bits({Role::kFilter, Role::kScore})},
    {"InterPodAffinity", Bits({Role::kFilter, Role::kScore})},
    {"DynamicResources", Bits({Role::kPreEnqueue, Role::kFilter, Role::kPostFilter, Role::kScore,
                               Role::kReserve, Role::kPreBind})},
    {"DefaultPreemption", Bits({Role::kPreEnqueue, Role::kPostFilter})},
    {"NodeResourcesBalancedAllocation", Bits({Role::kScore})},
    {"ImageLocality", Bits({Role::kScore})},
    {"DefaultBinder", 0},
    {"NodeDeclaredFeatures", Bits({Role::kFilter}), true},
    {"GangScheduling", Bits({Role::kPreEnqueue, Role::kReserve, Role::kPermit})},
    {"TopologyPlacementGenerator", 0},
    {"PodGroupPodsCount", 0},
    {"DeferredPodScheduling", Bits({Role::kPreEnqueue, Role::kFilter})},
}};

// An extension point as the file names it; nullopt: nothing can be turned off there alone.
struct Point {
  std::string_view key;
  std::optional<Role> role;
};
constexpr std::array<Point, 15> kPoints = {{
    {"preEnqueue", Role::kPreEnqueue},
    {"queueSort", std::nullopt},
    {"preFilter", std::nullopt},
    {"filter", Role::kFilter},
    {"postFilter", Role::kPostFilter},
    {"preScore", std::nullopt},
    {"score", Role::kScore},
    {"reserve", Role::kReserve},
    {"permit", Role::kPermit},
    {"preBind", Role::kPreBind},
    {"bind", std::nullopt},
    {"postBind", std::nullopt},
    {"placementGenerate", std::nullopt},
    {"placementScore", std::nullopt},
    {"podGroupPostFilter", std::nullopt},
}};

constexpr std::string_view kAll = "*";

const KnownPlugin* FindPlugin(std::string_view name) {
  const auto* const found = std::find_if(
      kPlugins.begin(), kPlugins.end(), [&](const KnownPlugin& each) { return each.name == name; });
  return found == kPlugins.end() ? nullptr : found;
}

class ProfileReader {
 public:
  ProfileReader(YamlErrors& errors, FeatureUses& features) : errors_(errors), features_(features) {}

  SchedulerProfile Read(const YamlNode& node) {
    YamlFields fields(errors_, node, "a profile");
    fields.Read("schedulerName", &profile_.scheduler_name);
    ReadPercentage(errors_, fields, &profile_.percentage_of_nodes);
    if (const auto* plugins = fields.FindMap("plugins")) ReadPlugins(*plugins);
    if (const auto* configs = fields.FindList("pluginConfig")) {
      for (const YamlNode& item : configs->items) ReadPluginConfig(item);
    }
    return std::move(profile_);
  }

  static void ReadPercentage(YamlErrors& errors, YamlFields& fields,
                             std::optional<int32_t>* percentage) {
    constexpr int64_t kPercentMax = 100;
    int64_t read = 0;
    if (!fields.Read("percentageOfNodesToScore", &read)) return;
    if (read < 0 || read > kPercentMax) {
      errors.Add(fields.node().at,
                 "percentageOfNodesToScore is " + std::to_string(read) + ", expected 0 to 100");
    }
    *percentage = static_cast<int32_t>(read);
  }

 private:
  struct Named {
    std::string name;
    std::optional<int32_t> weight;
    TextPosition at;
  };
  struct Set {
    std::vector<Named> enabled;
    std::vector<Named> disabled;
  };

  // What the single points say has the last word.
  void ReadPlugins(const YamlNode& node) {
    YamlFields fields(errors_, node, "plugins");
    constexpr uint32_t kEveryRole = (1u << kPluginRoleCount) - 1;
    if (const auto* set = fields.FindMap("multiPoint")) Apply(ReadSet(*set), kEveryRole, false);
    for (const Point& point : kPoints) {
      const YamlNode* const set = fields.FindMap(point.key);
      if (set == nullptr) continue;
      if (point.role) {
        Apply(ReadSet(*set), BitOf(*point.role), true);
      } else {
        NotePoint(ReadSet(*set), point);
      }
    }
    for (const KnownPlugin& plugin : kPlugins) NoteLoss(plugin);
  }

  Set ReadSet(const YamlNode& node) {
    Set set;
    YamlFields fields(errors_, node, "a set of plugins");
    if (const auto* list = fields.FindList("enabled")) set.enabled = ReadNames(*list);
    if (const auto* list = fields.FindList("disabled")) set.disabled = ReadNames(*list);
    return set;
  }

  std::vector<Named> ReadNames(const YamlNode& list) {
    std::vector<Named> names;
    for (const YamlNode& item : list.items) {
      Named named;
      named.at = item.at;
      int64_t weight = 0;
      YamlFields fields(errors_, item, "a plugin");
      fields.ReadRequired("name", &named.name);
      if (fields.Read("weight", &weight)) {
        constexpr int64_t kWeightMax = 1'000'000;
        if (weight < 0 || weight > kWeightMax) {
          errors_.Add(item.at, "weight is " + std::to_string(weight) + ", expected 0 to " +
                                   std::to_string(kWeightMax));
        }
        if (weight > 0) named.weight = static_cast<int32_t>(weight);
      }
      if (named.name != kAll && FindPlugin(named.name) == nullptr) {
        errors_.Add(item.at, "unknown plugin \"" + named.name.substr(0, 60) +
                                 "\", expected one of kube-scheduler's");
      }
      names.push_back(std::move(named));
    }
    return names;
  }

  void Apply(const Set& set, uint32_t roles, bool is_single_point) {
    for (const Named& named : set.disabled) {
      for (const KnownPlugin& plugin : kPlugins) {
        if (named.name == kAll || named.name == plugin.name) TurnOff(plugin, roles);
      }
    }
    for (const Named& named : set.enabled) {
      const KnownPlugin* const plugin = FindPlugin(named.name);
      if (plugin == nullptr) continue;  // An error already.
      if (is_single_point && (plugin->roles & roles) == 0) {
        errors_.Add(named.at, named.name + " has nothing to do at this extension point");
      }
      TurnOn(*plugin, roles, named.weight);
    }
  }

  void TurnOff(const KnownPlugin& plugin, uint32_t roles) {
    if (plugin.roles == 0) lost_.insert(plugin.name);
    Turn(plugin, roles, true);
  }
  void TurnOn(const KnownPlugin& plugin, uint32_t roles, std::optional<int32_t> weight) {
    lost_.erase(plugin.name);
    Turn(plugin, roles, false);
    if (weight && (roles & BitOf(Role::kScore)) != 0) {
      profile_.plugins[std::string(plugin.name)].weight = weight;
    }
  }
  void Turn(const KnownPlugin& plugin, uint32_t roles, bool is_off) {
    for (size_t role = 0; role < kPluginRoleCount; ++role) {
      if ((roles & plugin.roles & BitOf(static_cast<Role>(role))) == 0) continue;
      profile_.plugins[std::string(plugin.name)].is_off[role] = is_off;
    }
  }

  // What the simulation cannot do without.
  void NoteLoss(const KnownPlugin& plugin) {
    const PluginChoice& choice = profile_.ChoiceOf(std::string(plugin.name));
    const bool lost = (choice.IsOff(Role::kFilter) && !plugin.may_lose_filter) ||
                      choice.IsOff(Role::kReserve) || choice.IsOff(Role::kPreBind) ||
                      lost_.count(plugin.name) != 0;
    if (lost) NoteSetting(std::string(plugin.name) + " turned off");
  }

  void NotePoint(const Set& set, const Point& point) {
    if (set.enabled.empty() && set.disabled.empty()) return;
    NoteSetting("plugins." + std::string(point.key));
  }
  void NoteSetting(std::string_view what) {
    AddFeature(features_, Feature::kSchedulerConfiguration, std::string(what));
  }

  void ReadPluginConfig(const YamlNode& item) {
    std::string name;
    YamlFields config(errors_, item, "a plugin configuration");
    if (!config.ReadRequired("name", &name)) return;
    if (FindPlugin(name) == nullptr) {
      errors_.Add(item.at, "unknown plugin \"" + name.substr(0, 60) +
                               "\", expected one of kube-scheduler's");
    }
    if (std::find(configured_.begin(), configured_.end(), name) != configured_.end()) {
      errors_.Add(item.at, name + " is configured twice, expected once");
    }
    configured_.push_back(name);
    const YamlNode* const args = config.FindMap("args");
    if (args != nullptr) ReadPluginArgs(errors_, name, *args, &profile_, features_);
  }

  YamlErrors& errors_;
  FeatureUses& features_;
  SchedulerProfile profile_;
  std::set<std::string_view> lost_;  // Of those without a role here.
  std::vector<std::string> configured_;
};

void ReadSeconds(YamlErrors& errors, YamlFields& fields, std::string_view key,
                 std::optional<Duration>* out) {
  int64_t seconds = 0;
  constexpr int64_t kSecondsMax = 24 * 3600;
  if (!fields.Read(key, &seconds)) return;
  if (seconds < 1 || seconds > kSecondsMax) {
    errors.Add(fields.node().at, std::string(key) + " is " + std::to_string(seconds) +
                                     ", expected 1 to " + std::to_string(kSecondsMax));
    return;
  }
  *out = std::chrono::seconds(seconds);
}

void ReadProfiles(YamlErrors& errors, const YamlNode& list, FeatureUses& features,
                  SchedulerSettings* settings) {
  constexpr size_t kProfilesMax = 16;
  if (list.items.empty()) return;
  settings->profiles.clear();
  for (const YamlNode& item : list.items) {
    SchedulerProfile profile = ProfileReader(errors, features).Read(item);
    for (const SchedulerProfile& other : settings->profiles) {
      if (other.scheduler_name != profile.scheduler_name) continue;
      errors.Add(item.at, "schedulerName " + profile.scheduler_name.substr(0, 60) +
                              " is there twice, expected unique names");
    }
    settings->profiles.push_back(std::move(profile));
  }
  if (settings->profiles.size() > kProfilesMax) {
    errors.Add(list.at, "more than " + std::to_string(kProfilesMax) + " profiles");
  }
}

}  // namespace

SchedulerSettings ReadSchedulerConfig(YamlErrors& errors, const YamlNode& root,
                                      FeatureUses& features) {
  SchedulerSettings settings;
  std::string kind;
  std::string version;
  YamlFields fields(errors, root, "the scheduler configuration");
  fields.ReadRequired("kind", &kind);
  if (!kind.empty() && kind != "KubeSchedulerConfiguration") {
    errors.Add(root.at, "kind is " + kind + ", expected KubeSchedulerConfiguration");
  }
  constexpr std::string_view kVersion = "kubescheduler.config.k8s.io/v1";
  if (fields.Read("apiVersion", &version) && version != kVersion) {
    errors.Add(root.at,
               "apiVersion is " + version.substr(0, 60) + ", expected " + std::string(kVersion));
  }
  ReadSeconds(errors, fields, "podInitialBackoffSeconds", &settings.pod_initial_backoff);
  ReadSeconds(errors, fields, "podMaxBackoffSeconds", &settings.pod_max_backoff);
  const bool has_both = settings.pod_initial_backoff && settings.pod_max_backoff;
  if (has_both && *settings.pod_max_backoff < *settings.pod_initial_backoff) {
    errors.Add(root.at,
               "podMaxBackoffSeconds is below podInitialBackoffSeconds, expected at "
               "least that");
  }
  if (const auto* profiles = fields.FindList("profiles")) {
    ReadProfiles(errors, *profiles, features, &settings);
  }
  std::optional<int32_t> percentage;
  ProfileReader::ReadPercentage(errors, fields, &percentage);
  for (SchedulerProfile& profile : settings.profiles) {
    if (!profile.percentage_of_nodes) profile.percentage_of_nodes = percentage;
  }
  if (fields.Find("extenders") != nullptr) {
    AddFeature(features, Feature::kSchedulerConfiguration, "extenders");
  }
  fields.Ignore({"parallelism", "leaderElection", "clientConnection", "enableProfiling",
                 "enableContentionProfiling", "delayCacheUntilActive"});
  return settings;
}

}  // namespace schedq
