#include "bench/format/workload/scheduler_config.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/time/time.h"

namespace schedq {
namespace {

// Plugin arguments that need no feature: they change only scores, or parts whose features are noted
// elsewhere.
bool IsHarmless(std::string_view plugin) {
  return plugin == "PodTopologySpread" || plugin == "InterPodAffinity" ||
         plugin == "VolumeBinding" || plugin == "DefaultPreemption";
}

void ReadProfile(YamlErrors& errors, const YamlNode& node, FeatureUses& features) {
  std::string name;
  YamlFields fields(errors, node, "a profile");
  if (fields.Read("schedulerName", &name) && name != "default-scheduler") {
    AddFeature(features, Feature::kOtherScheduler, name);
  }
  if (fields.Find("plugins") != nullptr) {
    AddFeature(features, Feature::kSchedulerConfiguration, "plugins");
  }
  fields.Ignore({"percentageOfNodesToScore"});
  const YamlNode* configs = fields.FindList("pluginConfig");
  if (configs == nullptr) return;
  for (const YamlNode& item : configs->items) {
    YamlFields config(errors, item, "a plugin configuration");
    config.ReadRequired("name", &name);
    config.Ignore({"args"});
    if (!IsHarmless(name)) AddFeature(features, Feature::kSchedulerScoring, name);
  }
}

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

}  // namespace

SchedulerSettings ReadSchedulerConfig(YamlErrors& errors, const YamlNode& root,
                                      FeatureUses& features) {
  SchedulerSettings settings;
  std::string kind;
  YamlFields fields(errors, root, "the scheduler configuration");
  fields.ReadRequired("kind", &kind);
  if (!kind.empty() && kind != "KubeSchedulerConfiguration") {
    errors.Add(root.at, "kind is " + kind + ", expected KubeSchedulerConfiguration");
  }
  ReadSeconds(errors, fields, "podInitialBackoffSeconds", &settings.pod_initial_backoff);
  ReadSeconds(errors, fields, "podMaxBackoffSeconds", &settings.pod_max_backoff);
  if (const auto* profiles = fields.FindList("profiles")) {
    for (const YamlNode& profile : profiles->items) ReadProfile(errors, profile, features);
  }
  if (fields.Find("extenders") != nullptr) {
    AddFeature(features, Feature::kSchedulerConfiguration, "extenders");
  }
  fields.Ignore({"apiVersion", "parallelism", "leaderElection", "clientConnection",
                 "percentageOfNodesToScore", "enableProfiling", "enableContentionProfiling",
                 "delayCacheUntilActive"});
  return settings;
}

}  // namespace schedq
