// Reads the objects of dynamic resource allocation: claims, device classes and resource slices.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_reader.h"
#include "bench/format/workload/features.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {
namespace {

bool HasItems(const YamlNode* list) { return list != nullptr && !list->items.empty(); }

void ReadExactRequest(YamlErrors& errors, const YamlNode& node, DeviceRequest* request,
                      FeatureUses& features) {
  YamlFields fields(errors, node, "the exact request");
  fields.ReadRequired("deviceClassName", &request->class_name);
  fields.ReadCount("count", &request->count);
  if (request->count < 1) {
    errors.Add(node.at, "count is " + std::to_string(request->count) + ", expected at least 1");
  }
  std::string mode;
  if (fields.Read("allocationMode", &mode) && mode == "All") {
    AddFeature(features, Feature::kClaimAllDevices);
  }
  bool admin_access = false;
  if (fields.Read("adminAccess", &admin_access) && admin_access) {
    AddFeature(features, Feature::kClaimAdminAccess);
  }
  if (HasItems(fields.FindList("selectors"))) AddFeature(features, Feature::kClaimSelectors);
  if (HasItems(fields.FindList("tolerations"))) AddFeature(features, Feature::kClaimTolerations);
  if (fields.FindMap("capacity") != nullptr) AddFeature(features, Feature::kClaimCapacity);
}

DeviceRequest ReadRequest(YamlErrors& errors, const YamlNode& node, FeatureUses& features) {
  DeviceRequest request;
  YamlFields fields(errors, node, "a device request");
  fields.ReadRequired("name", &request.name);
  const YamlNode* exactly = fields.Find("exactly");
  const YamlNode* first = fields.FindList("firstAvailable");
  if (exactly != nullptr) {
    ReadExactRequest(errors, *exactly, &request, features);
  } else if (first != nullptr) {
    AddFeature(features, Feature::kClaimAlternatives);
  } else {
    errors.Add(node.at, "a device request has neither exactly nor firstAvailable, expected one");
  }
  return request;
}

}  // namespace

ClaimSpec ReadClaimSpec(YamlErrors& errors, const YamlNode& spec, FeatureUses& features) {
  ClaimSpec claim;
  YamlFields fields(errors, spec, "the claim's spec");
  const YamlNode* devices = fields.Find("devices");
  if (devices == nullptr) return claim;
  YamlFields parts(errors, *devices, "devices");
  if (const auto* requests = parts.FindList("requests")) {
    for (const YamlNode& item : requests->items) {
      claim.requests.push_back(ReadRequest(errors, item, features));
    }
  }
  if (HasItems(parts.FindList("constraints"))) AddFeature(features, Feature::kClaimConstraints);
  parts.Ignore({"config"});
  return claim;
}

std::optional<std::string> DriverOfExpression(std::string_view expression) {
  std::string compact;
  bool quoted = false;
  for (char c : expression) {
    if (c == '"') quoted = !quoted;
    if (quoted || (c != ' ' && c != '\n' && c != '\t')) compact += c;
  }
  constexpr std::string_view kPrefix = "device.driver==\"";
  if (compact.size() <= kPrefix.size() || compact.rfind(kPrefix, 0) != 0) return std::nullopt;
  const size_t close = compact.find('"', kPrefix.size());
  if (close != compact.size() - 1 || close == kPrefix.size()) return std::nullopt;
  return compact.substr(kPrefix.size(), close - kPrefix.size());
}

DeviceClassObject ReadDeviceClassBody(YamlErrors& errors, const YamlNode* spec,
                                      FeatureUses& features) {
  DeviceClassObject body;
  if (spec == nullptr) return body;
  YamlFields fields(errors, *spec, "the device class's spec");
  if (const auto* selectors = fields.FindList("selectors")) {
    for (const YamlNode& item : selectors->items) {
      std::string expression;
      YamlFields selector(errors, item, "a selector");
      if (const auto* cel = selector.Require("cel")) {
        YamlFields(errors, *cel, "cel").ReadRequired("expression", &expression);
      }
      const auto driver = DriverOfExpression(expression);
      const bool agrees = driver && (body.driver.empty() || body.driver == *driver);
      if (agrees) {
        body.driver = *driver;
      } else {
        AddFeature(features, Feature::kClassSelectors);
      }
    }
  }
  std::string resource;
  if (fields.Read("extendedResourceName", &resource)) {
    AddFeature(features, Feature::kClassExtendedResource);
  }
  fields.Ignore({"config"});
  return body;
}

namespace {

std::string ReadDevice(YamlErrors& errors, const YamlNode& node, FeatureUses& features) {
  std::string name;
  YamlFields fields(errors, node, "a device");
  fields.ReadRequired("name", &name);
  if (HasItems(fields.FindList("consumesCounters"))) AddFeature(features, Feature::kSliceCounters);
  if (HasItems(fields.FindList("taints"))) AddFeature(features, Feature::kSliceTaints);
  bool shared = false;
  if (fields.Read("allowMultipleAllocations", &shared) && shared) {
    AddFeature(features, Feature::kSliceSharedDevices);
  }
  const bool elsewhere = fields.Find("nodeName") != nullptr ||
                         fields.Find("nodeSelector") != nullptr ||
                         fields.Find("allNodes") != nullptr;
  if (elsewhere) AddFeature(features, Feature::kSliceNodeSelector);
  fields.Ignore({"attributes", "capacity", "basic", "bindsToNode", "bindingConditions",
                 "bindingFailureConditions", "nodeAllocatableResourceMappings"});
  return name;
}

}  // namespace

ResourceSliceObject ReadResourceSliceBody(YamlErrors& errors, const YamlNode& spec,
                                          FeatureUses& features) {
  ResourceSliceObject body;
  YamlFields fields(errors, spec, "the slice's spec");
  fields.ReadRequired("driver", &body.driver);
  if (const auto* pool = fields.Require("pool")) {
    YamlFields parts(errors, *pool, "the pool");
    parts.ReadRequired("name", &body.pool);
    parts.Ignore({"generation", "resourceSliceCount"});
  }
  fields.Read("nodeName", &body.node_name);
  bool per_device = false;
  fields.Read("perDeviceNodeSelection", &per_device);
  if (fields.Find("nodeSelector") != nullptr || fields.Find("allNodes") != nullptr || per_device) {
    AddFeature(features, Feature::kSliceNodeSelector);
  }
  if (HasItems(fields.FindList("sharedCounters"))) AddFeature(features, Feature::kSliceCounters);
  if (const auto* devices = fields.FindList("devices")) {
    for (const YamlNode& item : devices->items) {
      body.devices.push_back(ReadDevice(errors, item, features));
    }
  }
  return body;
}

}  // namespace schedq
