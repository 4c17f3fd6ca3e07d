// Reads resource slices: the devices of a pool, and the counters that they share.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "bench/format/cel/semantic_version.h"
#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/device_reader.h"
#include "bench/format/objects/object_reader.h"
#include "bench/format/objects/quantity.h"
#include "bench/format/workload/features.h"
#include "bench/format/workload/go_duration.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

namespace schedq {
namespace {

constexpr size_t kDevicesOfSliceMax = 128;

using Type = SliceAttribute::Type;

struct AttributeKind {
  std::string_view key;
  Type type;
  bool is_list;
};
constexpr std::array<AttributeKind, 8> kAttributeKinds = {{
    {"bool", Type::kBool, false},
    {"int", Type::kInt, false},
    {"string", Type::kString, false},
    {"version", Type::kVersion, false},
    {"bools", Type::kBool, true},
    {"ints", Type::kInt, true},
    {"strings", Type::kString, true},
    {"versions", Type::kVersion, true},
}};

void ReadValue(YamlErrors& errors, const YamlNode& node, SliceAttribute* attribute) {
  if (attribute->type == Type::kBool) {
    bool value = false;
    if (ReadYaml(errors, node, "a bool", &value)) attribute->numbers.push_back(value ? 1 : 0);
  } else if (attribute->type == Type::kInt) {
    int64_t value = 0;
    if (ReadYaml(errors, node, "an int", &value)) attribute->numbers.push_back(value);
  } else {
    std::string value;
    if (!ReadYaml(errors, node, "a string", &value)) return;
    if (attribute->type == Type::kVersion && !SemanticVersion::Parse(value)) {
      errors.Add(node.at, "the version is \"" + value.substr(0, 60) +
                              "\", expected one such as 1.2.3 or 1.2.3-rc.1");
    }
    attribute->texts.push_back(std::move(value));
  }
}

SliceAttribute ReadAttribute(YamlErrors& errors, const YamlEntry& entry) {
  SliceAttribute attribute;
  attribute.name = entry.key;
  YamlFields fields(errors, entry.value, "an attribute");
  size_t kinds = 0;
  for (const AttributeKind& kind : kAttributeKinds) {
    const YamlNode* const value = kind.is_list ? fields.FindList(kind.key) : fields.Find(kind.key);
    if (value == nullptr) continue;
    ++kinds;
    attribute.type = kind.type;
    attribute.is_list = kind.is_list;
    if (!kind.is_list) ReadValue(errors, *value, &attribute);
    for (const YamlNode& item : value->items) {
      if (kind.is_list) ReadValue(errors, item, &attribute);
    }
  }
  if (kinds != 1) {
    errors.Add(entry.value.at, "the attribute " + entry.key + " has " + std::to_string(kinds) +
                                   " values, expected one of bool, int, string, version, bools, "
                                   "ints, strings and versions");
  }
  return attribute;
}

RequestPolicy ReadPolicy(YamlErrors& errors, const YamlNode& node) {
  RequestPolicy policy;
  YamlFields fields(errors, node, "the request policy");
  const auto read = [&](YamlFields& from, std::string_view key, std::optional<Quantity>* out) {
    const YamlNode* const value = from.Find(key);
    Quantity amount;
    if (value != nullptr && ReadAmount(errors, *value, key, &amount)) *out = amount;
  };
  read(fields, "default", &policy.default_amount);
  if (const auto* values = fields.FindList("validValues")) {
    for (const YamlNode& item : values->items) {
      Quantity amount;
      if (!ReadAmount(errors, item, "a valid value", &amount)) break;
      policy.valid_amounts.push_back(amount);
    }
    if (!std::is_sorted(policy.valid_amounts.begin(), policy.valid_amounts.end())) {
      errors.Add(values->at, "validValues are not sorted, expected ascending ones");
    }
  }
  const YamlNode* const range = fields.FindMap("validRange");
  if (range == nullptr) return policy;
  YamlFields parts(errors, *range, "the valid range");
  std::optional<Quantity> least;
  policy.range.emplace();
  read(parts, "min", &least);
  read(parts, "max", &policy.range->most);
  read(parts, "step", &policy.range->step);
  if (!least) {
    errors.Add(range->at, "the valid range has no min, expected one");
  } else {
    policy.range->least = *least;
  }
  if (policy.range->step && *policy.range->step <= Quantity()) {
    errors.Add(range->at, "step is 0, expected more");
  }
  if (!policy.valid_amounts.empty()) {
    errors.Add(range->at, "expected either validValues or validRange in a request policy");
  }
  return policy;
}

SliceCapacity ReadCapacity(YamlErrors& errors, const YamlEntry& entry) {
  SliceCapacity capacity;
  capacity.name = entry.key;
  YamlFields fields(errors, entry.value, "a capacity");
  if (const auto* value = fields.Require("value")) {
    ReadAmount(errors, *value, "value", &capacity.amount);
  }
  if (const auto* policy = fields.FindMap("requestPolicy")) {
    capacity.policy = ReadPolicy(errors, *policy);
  }
  return capacity;
}

Counters ReadCounters(YamlErrors& errors, YamlFields& fields) {
  Counters counters;
  const YamlNode* const map = fields.FindMap("counters");
  if (map == nullptr) return counters;
  for (const YamlEntry& entry : map->entries) {
    Quantity amount;
    YamlFields counter(errors, entry.value, "a counter");
    if (const auto* value = counter.Require("value")) {
      ReadAmount(errors, *value, "value", &amount);
    }
    counters.emplace_back(entry.key, amount);
  }
  std::sort(counters.begin(), counters.end());
  return counters;
}

CounterUse ReadCounterUse(YamlErrors& errors, const YamlNode& node) {
  CounterUse use;
  YamlFields fields(errors, node, "a use of counters");
  fields.ReadRequired("counterSet", &use.counter_set);
  use.counters = ReadCounters(errors, fields);
  fields.Read("compatibilityGroups", &use.compatibility_groups);
  auto& groups = use.compatibility_groups;
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return use;
}

void ReadReach(YamlErrors& errors, YamlFields& fields, NodeReach* reach) {
  fields.Read("nodeName", &reach->node_name);
  fields.Read("allNodes", &reach->is_everywhere);
  if (const auto* selector = fields.FindMap("nodeSelector")) {
    reach->terms = ReadNodeSelector(errors, *selector);
    if (reach->terms.size() != 1) {
      errors.Add(selector->at, "the node selector has " + std::to_string(reach->terms.size()) +
                                   " terms, expected one");
    }
  }
}

bool IsOneAtMost(const NodeReach& reach) {
  return int{!reach.node_name.empty()} + int{reach.is_everywhere} + int{!reach.terms.empty()} <= 1;
}

void NoteUses(const SliceDevice& device, FeatureUses& features) {
  if (!device.counter_uses.empty()) AddFeature(features, Feature::kSliceCounters);
  if (!device.taints.empty()) AddFeature(features, Feature::kSliceTaints);
  if (device.is_shared) AddFeature(features, Feature::kSliceSharedDevices);
  if (device.reach.IsSet()) AddFeature(features, Feature::kSliceNodeSelector);
  if (!device.binding_conditions.empty()) AddFeature(features, Feature::kBindingConditions);
}

// Devices of the API's first version have their attributes and capacity one level deeper.
void ReadProperties(YamlErrors& errors, YamlFields& fields, SliceDevice* device) {
  if (const auto* attributes = fields.FindMap("attributes")) {
    for (const YamlEntry& entry : attributes->entries) {
      device->attributes.push_back(ReadAttribute(errors, entry));
    }
  }
  if (const auto* capacity = fields.FindMap("capacity")) {
    for (const YamlEntry& entry : capacity->entries) {
      device->capacity.push_back(ReadCapacity(errors, entry));
    }
  }
}

SliceDevice ReadDevice(YamlErrors& errors, const YamlNode& node, FeatureUses& features) {
  SliceDevice device;
  YamlFields fields(errors, node, "a device");
  fields.ReadRequired("name", &device.name);
  if (const auto* basic = fields.FindMap("basic")) {
    YamlFields parts(errors, *basic, "basic");
    ReadProperties(errors, parts, &device);
  }
  ReadProperties(errors, fields, &device);
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(device.attributes.begin(), device.attributes.end(), by_name);
  std::sort(device.capacity.begin(), device.capacity.end(), by_name);
  if (const auto* uses = fields.FindList("consumesCounters")) {
    for (const YamlNode& item : uses->items) {
      device.counter_uses.push_back(ReadCounterUse(errors, item));
    }
  }
  if (const auto* taints = fields.FindList("taints")) {
    for (const YamlNode& item : taints->items) {
      device.taints.push_back(ReadDeviceTaint(errors, item));
    }
  }
  fields.Read("allowMultipleAllocations", &device.is_shared);
  ReadReach(errors, fields, &device.reach);
  fields.Read("bindsToNode", &device.binds_to_node);
  fields.Read("bindingConditions", &device.binding_conditions);
  fields.Read("bindingFailureConditions", &device.binding_failure_conditions);
  if (fields.FindMap("nodeAllocatableResources") != nullptr ||
      fields.FindMap("nodeAllocatableResourceMappings") != nullptr) {
    AddFeature(features, Feature::kNodeAllocatableDevices);
  }
  NoteUses(device, features);
  return device;
}

void CheckSlice(YamlErrors& errors, TextPosition at, const ResourceSliceObject& slice) {
  const int ways = int{slice.reach.IsSet()} + int{slice.per_device};
  if (ways != 1 || !IsOneAtMost(slice.reach)) {
    errors.Add(at,
               "expected exactly one of nodeName, nodeSelector, allNodes and "
               "perDeviceNodeSelection in a slice");
  }
  if (!slice.devices.empty() && !slice.shared_counters.empty()) {
    errors.Add(at, "a slice has devices and sharedCounters, expected one of them");
  }
  if (slice.devices.size() > kDevicesOfSliceMax) {
    errors.Add(at, "there are " + std::to_string(slice.devices.size()) +
                       " devices, expected at most " + std::to_string(kDevicesOfSliceMax));
  }
  std::set<std::string_view> names;
  for (const SliceDevice& device : slice.devices) {
    if (!names.insert(device.name).second) {
      errors.Add(at, "there are two devices " + device.name + ", expected different names");
    }
    if (device.reach.IsSet() != slice.per_device || !IsOneAtMost(device.reach)) {
      errors.Add(at, "device " + device.name +
                         ": expected one of nodeName, nodeSelector and allNodes exactly where "
                         "perDeviceNodeSelection is set");
    }
  }
}

DriverBehaviour ReadBehaviour(YamlErrors& errors, TextPosition at, const Labels& annotations) {
  DriverBehaviour behaviour;
  const std::string_view delay = LabelValue(annotations, kBindingDelayAnnotation);
  if (!delay.empty()) {
    behaviour.binding_delay = ParseGoDuration(delay);
    if (!behaviour.binding_delay || *behaviour.binding_delay < Duration(0)) {
      errors.Add(at, "annotation " + std::string(kBindingDelayAnnotation) + " is \"" +
                         std::string(delay) + "\", expected a duration such as 2s");
    }
  }
  const std::string_view failures = LabelValue(annotations, kBindingFailuresAnnotation);
  const char* const end = failures.data() + failures.size();
  const auto read = std::from_chars(failures.data(), end, behaviour.binding_failures);
  const bool is_count =
      read.ec == std::errc() && read.ptr == end && behaviour.binding_failures >= 0;
  if (!failures.empty() && !is_count) {
    errors.Add(at, "annotation " + std::string(kBindingFailuresAnnotation) + " is \"" +
                       std::string(failures) + "\", expected a number of allocations");
  }
  return behaviour;
}

}  // namespace

ResourceSliceObject ReadResourceSliceBody(YamlErrors& errors, const YamlNode& spec,
                                          const Labels& annotations, FeatureUses& features) {
  ResourceSliceObject body;
  YamlFields fields(errors, spec, "the slice's spec");
  fields.ReadRequired("driver", &body.driver);
  if (const auto* pool = fields.Require("pool")) {
    YamlFields parts(errors, *pool, "the pool");
    parts.ReadRequired("name", &body.pool);
    parts.ReadCount("generation", &body.generation);
    parts.ReadCount("resourceSliceCount", &body.slice_count);
  }
  ReadReach(errors, fields, &body.reach);
  fields.Read("perDeviceNodeSelection", &body.per_device);
  if (body.reach.node_name.empty()) AddFeature(features, Feature::kSliceNodeSelector);
  if (const auto* sets = fields.FindList("sharedCounters")) {
    for (const YamlNode& item : sets->items) {
      CounterSet set;
      YamlFields parts(errors, item, "a counter set");
      parts.ReadRequired("name", &set.name);
      set.counters = ReadCounters(errors, parts);
      body.shared_counters.push_back(std::move(set));
    }
    if (HasItems(sets)) AddFeature(features, Feature::kSliceCounters);
  }
  if (const auto* devices = fields.FindList("devices")) {
    for (const YamlNode& item : devices->items) {
      body.devices.push_back(ReadDevice(errors, item, features));
    }
  }
  if (HasItems(fields.FindList("skipNodeOperations"))) {
    AddFeature(features, Feature::kOptionalNodeOperations);
  }
  body.behaviour = ReadBehaviour(errors, spec.at, annotations);
  if (errors.ok()) CheckSlice(errors, spec.at, body);
  return body;
}

}  // namespace schedq
