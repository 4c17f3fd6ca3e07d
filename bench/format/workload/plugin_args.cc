#include "bench/format/workload/plugin_args.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace schedq {
namespace {

constexpr int64_t kPercentMax = 100;

// Reads a number within the range; returns false where it is absent.
bool ReadBetween(YamlFields& fields, std::string_view key, int64_t low, int64_t high,
                 int64_t* out) {
  if (!fields.Read(key, out)) return false;
  if (*out >= low && *out <= high) return true;
  fields.errors().Add(fields.Find(key)->at, std::string(key) + " is " + std::to_string(*out) +
                                                ", expected " + std::to_string(low) + " to " +
                                                std::to_string(high));
  return false;
}

std::vector<FitScoring::Resource> ReadResources(YamlErrors& errors, const YamlNode& list) {
  std::vector<FitScoring::Resource> resources;
  for (const YamlNode& item : list.items) {
    FitScoring::Resource resource;
    YamlFields fields(errors, item, "a resource");
    fields.ReadRequired("name", &resource.name);
    ReadBetween(fields, "weight", 1, kPercentMax, &resource.weight);
    resources.push_back(std::move(resource));
  }
  return resources;
}

std::vector<FitScoring::Point> ReadShape(YamlErrors& errors, YamlFields& fields,
                                         std::string_view of) {
  constexpr int64_t kScoreOfPointMax = 10;
  std::vector<FitScoring::Point> shape;
  const YamlNode* list = fields.FindList("shape");
  if (list == nullptr || list->items.empty()) {
    errors.Add(fields.node().at, std::string(of) + " has no shape, expected a point at least");
    return shape;
  }
  for (const YamlNode& item : list->items) {
    FitScoring::Point point;
    YamlFields parts(errors, item, "a point of the shape");
    ReadBetween(parts, "utilization", 0, kPercentMax, &point.utilization);
    ReadBetween(parts, "score", 0, kScoreOfPointMax, &point.score);
    if (!shape.empty() && shape.back().utilization >= point.utilization) {
      errors.Add(item.at, "utilization does not rise from point to point, expected that it does");
    }
    shape.push_back(point);
  }
  return shape;
}

void ReadStrategy(YamlErrors& errors, const YamlNode& node, FitScoring* scoring) {
  std::string type = "LeastAllocated";
  YamlFields fields(errors, node, "scoringStrategy");
  fields.Read("type", &type);
  if (type == "LeastAllocated") {
    scoring->strategy = FitScoring::Strategy::kLeastAllocated;
  } else if (type == "MostAllocated") {
    scoring->strategy = FitScoring::Strategy::kMostAllocated;
  } else if (type == "RequestedToCapacityRatio") {
    scoring->strategy = FitScoring::Strategy::kRequestedToCapacityRatio;
  } else {
    errors.Add(node.at, "type is \"" + type +
                            "\", expected LeastAllocated, MostAllocated or "
                            "RequestedToCapacityRatio");
  }
  const YamlNode* resources = fields.FindList("resources");
  if (resources != nullptr && !resources->items.empty()) {
    scoring->resources = ReadResources(errors, *resources);
  }
  const YamlNode* ratio = fields.FindMap("requestedToCapacityRatio");
  const bool wants_shape = scoring->strategy == FitScoring::Strategy::kRequestedToCapacityRatio;
  if (ratio != nullptr) {
    YamlFields parts(errors, *ratio, "requestedToCapacityRatio");
    scoring->shape = ReadShape(errors, parts, "requestedToCapacityRatio");
  } else if (wants_shape) {
    errors.Add(node.at,
               "type RequestedToCapacityRatio without requestedToCapacityRatio, "
               "expected its shape");
  }
}

void ReadFit(YamlErrors& errors, YamlFields& fields, SchedulerProfile* profile,
             FeatureUses& features) {
  if (const auto* strategy = fields.FindMap("scoringStrategy")) {
    ReadStrategy(errors, *strategy, &profile->fit_scoring);
  }
  for (const char* key : {"ignoredResources", "ignoredResourceGroups"}) {
    const YamlNode* list = fields.FindList(key);
    if (list == nullptr || list->items.empty()) continue;
    AddFeature(features, Feature::kSchedulerConfiguration, std::string("NodeResourcesFit ") + key);
  }
}

void ReadBalanced(YamlErrors& errors, YamlFields& fields, FeatureUses& features) {
  const YamlNode* list = fields.FindList("resources");
  if (list == nullptr) return;
  const std::vector<FitScoring::Resource> resources = ReadResources(errors, *list);
  const bool is_default = resources.size() == 2 && resources[0].name == "cpu" &&
                          resources[1].name == "memory" && resources[0].weight == 1 &&
                          resources[1].weight == 1;
  if (is_default) return;
  AddFeature(features, Feature::kSchedulerScoring, "NodeResourcesBalancedAllocation resources");
}

void ReadSpread(YamlErrors& errors, YamlFields& fields, SchedulerProfile* profile,
                FeatureUses& features) {
  std::string type = "System";
  fields.Read("defaultingType", &type);
  if (type != "System" && type != "List") {
    errors.Add(fields.node().at, "defaultingType is \"" + type + "\", expected System or List");
  }
  const YamlNode* defaults = fields.FindList("defaultConstraints");
  const bool has_list = defaults != nullptr && !defaults->items.empty();
  if (has_list && type == "System") {
    errors.Add(defaults->at, "defaultConstraints beside defaultingType System, expected List");
  }
  if (has_list) {
    AddFeature(features, Feature::kSchedulerConfiguration, "PodTopologySpread defaultConstraints");
  }
  profile->has_default_spread = type == "System" || has_list;
}

void ReadInterPodAffinity(YamlFields& fields, SchedulerProfile* profile) {
  int64_t weight = profile->hard_pod_affinity_weight;
  ReadBetween(fields, "hardPodAffinityWeight", 0, kPercentMax, &weight);
  profile->hard_pod_affinity_weight = static_cast<int32_t>(weight);
  fields.Read("ignorePreferredTermsOfExistingPods", &profile->ignores_preferences_of_others);
}

void ReadPreemption(YamlErrors& errors, YamlFields& fields, SchedulerProfile* profile) {
  auto percentage = static_cast<int64_t>(profile->candidates_percentage);
  auto least = static_cast<int64_t>(profile->candidates_min);
  ReadBetween(fields, "minCandidateNodesPercentage", 0, kPercentMax, &percentage);
  ReadBetween(fields, "minCandidateNodesAbsolute", 0, kYamlCountMax, &least);
  if (percentage == 0 && least == 0) {
    errors.Add(fields.node().at,
               "minCandidateNodesPercentage and minCandidateNodesAbsolute are 0, expected one "
               "above 0");
  }
  profile->candidates_percentage = static_cast<size_t>(percentage);
  profile->candidates_min = static_cast<size_t>(least);
}

void ReadVolumeBinding(YamlErrors& errors, YamlFields& fields, SchedulerProfile* profile,
                       FeatureUses& features) {
  int64_t seconds = 0;
  if (ReadBetween(fields, "bindTimeoutSeconds", 0, kYamlCountMax, &seconds)) {
    profile->volume_bind_timeout = std::chrono::seconds(seconds);
  }
  if (fields.FindList("shape") == nullptr) return;
  ReadShape(errors, fields, "VolumeBinding");
  AddFeature(features, Feature::kSchedulerScoring, "VolumeBinding shape");
}

}  // namespace

void ReadPluginArgs(YamlErrors& errors, const std::string& plugin, const YamlNode& args,
                    SchedulerProfile* profile, FeatureUses& features) {
  YamlFields fields(errors, args, "args of " + plugin);
  fields.Ignore({"apiVersion", "kind"});
  if (plugin == "NodeResourcesFit") {
    ReadFit(errors, fields, profile, features);
  } else if (plugin == "NodeResourcesBalancedAllocation") {
    ReadBalanced(errors, fields, features);
  } else if (plugin == "PodTopologySpread") {
    ReadSpread(errors, fields, profile, features);
  } else if (plugin == "InterPodAffinity") {
    ReadInterPodAffinity(fields, profile);
  } else if (plugin == "DefaultPreemption") {
    ReadPreemption(errors, fields, profile);
  } else if (plugin == "VolumeBinding") {
    ReadVolumeBinding(errors, fields, profile, features);
  } else if (plugin == "NodeAffinity") {
    if (fields.FindMap("addedAffinity") != nullptr) {
      AddFeature(features, Feature::kSchedulerConfiguration, "NodeAffinity addedAffinity");
    }
  } else {
    // Timeouts of calls that the simulated cluster always answers, and arguments of plugins that
    // are not kube-scheduler's.
    fields.AllowOthers();
    AddFeature(features, Feature::kSchedulerArguments, plugin);
  }
}

}  // namespace schedq
