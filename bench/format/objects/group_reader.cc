// Reads the specs of PodGroup and CompositePodGroup.
#include <cstdint>
#include <string>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_reader.h"
#include "bench/format/workload/features.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {
namespace {

// The one of two keys that the map has, which says how a group is treated.
enum class Choice : uint8_t { kOne, kOther };

Choice ReadChoice(YamlErrors& errors, YamlFields& fields, const char* first, const char* second) {
  const bool has_first = fields.Find(first) != nullptr;
  const bool has_second = fields.Find(second) != nullptr;
  if (has_first == has_second) {
    errors.Add(fields.node().at,
               std::string("expected either ") + first + " or " + second + " in a pod group");
  }
  return has_second ? Choice::kOther : Choice::kOne;
}

int64_t ReadMinCount(YamlErrors& errors, const YamlNode& policy, const char* key) {
  YamlFields fields(errors, policy, "the scheduling policy");
  if (ReadChoice(errors, fields, "basic", "gang") == Choice::kOne) return 0;
  const YamlNode* const gang = fields.Find("gang");
  int64_t min_count = 0;
  YamlFields parts(errors, *gang, "the gang");
  if (parts.ReadRequired(key, &min_count) && min_count < 1) {
    errors.Add(gang->at, std::string(key) + " is less than 1, expected 1 or more");
  }
  return min_count;
}

std::string ReadTopologyKey(YamlErrors& errors, const YamlNode& constraints) {
  std::string key;
  YamlFields fields(errors, constraints, "the scheduling constraints");
  const auto* const topology = fields.FindList("topology");
  if (topology == nullptr || topology->items.empty()) return key;
  if (topology->items.size() > 1) {
    errors.Add(topology->at, "there are several topology constraints, expected at most one");
  }
  YamlFields constraint(errors, topology->items.front(), "a topology constraint");
  constraint.ReadRequired("key", &key);
  return key;
}

int32_t ReadGroupPriority(YamlErrors& errors, YamlFields& fields, FeatureUses& features) {
  int64_t priority = 0;
  std::string name;
  if (fields.Read("priorityClassName", &name) && !name.empty()) {
    AddFeature(features, Feature::kPriorityClasses, name);
  }
  if (fields.Read("priority", &priority) && (priority < INT32_MIN || priority > INT32_MAX)) {
    errors.Add(fields.node().at, "priority is out of range, expected 32 bits");
  }
  return static_cast<int32_t>(priority);
}

}  // namespace

PodGroupObject ReadPodGroupBody(YamlErrors& errors, const YamlNode& spec, bool is_composite,
                                FeatureUses& features) {
  PodGroupObject body;
  YamlFields fields(errors, spec, "the pod group's spec");
  if (const auto* policy = fields.Require("schedulingPolicy")) {
    body.min_count = ReadMinCount(errors, *policy, is_composite ? "minGroupCount" : "minCount");
  }
  if (const auto* constraints = fields.Find("schedulingConstraints")) {
    body.topology_key = ReadTopologyKey(errors, *constraints);
  }
  if (const auto* mode = fields.Find("disruptionMode"); mode != nullptr && !mode->IsNull()) {
    YamlFields modes(errors, *mode, "the disruption mode");
    body.is_disrupted_as_one = ReadChoice(errors, modes, "single", "all") == Choice::kOther;
  }
  body.priority = ReadGroupPriority(errors, fields, features);
  fields.Read("parentCompositePodGroupName", &body.parent);
  body.claims = ReadPodClaims(errors, fields.FindList("resourceClaims"));
  if (!body.claims.empty()) AddFeature(features, Feature::kGroupClaims);
  // The policy of the pods decides unless an alpha gate is on.
  fields.Ignore({"workloadRef", "preemptionPolicy"});
  return body;
}

}  // namespace schedq
