// Reads claims, device classes and rules about taints.
#include "bench/format/objects/device_reader.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "bench/format/cel/device_selector.h"
#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/object_reader.h"
#include "bench/format/objects/quantity.h"
#include "bench/format/workload/features.h"
#include "engine/pod.h"

namespace schedq {
namespace {

constexpr size_t kSelectorsMax = 32;

// The expressions of a list of selectors.
std::vector<std::string> ReadSelectors(YamlErrors& errors, const YamlNode* list) {
  std::vector<std::string> selectors;
  if (list == nullptr) return selectors;
  if (list->items.size() > kSelectorsMax) {
    errors.Add(list->at, "there are " + std::to_string(list->items.size()) +
                             " selectors, expected at most " + std::to_string(kSelectorsMax));
  }
  for (const YamlNode& item : list->items) {
    std::string expression;
    YamlFields selector(errors, item, "a selector");
    const YamlNode* const cel = selector.Require("cel");
    if (cel == nullptr) continue;
    YamlFields fields(errors, *cel, "cel");
    if (!fields.ReadRequired("expression", &expression)) continue;
    if (const auto parsed = DeviceSelector::Parse(expression); !parsed) {
      errors.Add(cel->at, "the expression is wrong at " + parsed.error().message());
    }
    selectors.push_back(std::move(expression));
  }
  return selectors;
}

Toleration ReadDeviceToleration(YamlErrors& errors, const YamlNode& node) {
  Toleration toleration = ReadToleration(errors, node, "a device toleration");
  if (toleration.key.empty() && !toleration.exists) {
    errors.Add(node.at, "a toleration without a key has operator Equal, expected Exists");
  }
  return toleration;
}

void ReadMode(YamlErrors& errors, YamlFields& fields, ExactRequest* request) {
  std::string mode = "ExactCount";
  fields.Read("allocationMode", &mode);
  const bool has_count = fields.Find("count") != nullptr;
  fields.ReadCount("count", &request->count);
  const TextPosition at = fields.node().at;
  request->wants_all = mode == "All";
  if (!request->wants_all && mode != "ExactCount") {
    errors.Add(at, "allocationMode is \"" + mode + "\", expected ExactCount or All");
  } else if (request->wants_all && has_count) {
    errors.Add(at, "a request for all devices has a count, expected none");
  } else if (request->count < 1) {
    errors.Add(at, "count is " + std::to_string(request->count) + ", expected at least 1");
  }
}

// What an exact request and an alternative have in common.
void ReadWishes(YamlErrors& errors, YamlFields& fields, ExactRequest* request,
                FeatureUses& features) {
  fields.ReadRequired("deviceClassName", &request->class_name);
  ReadMode(errors, fields, request);
  if (request->wants_all) AddFeature(features, Feature::kClaimAllDevices);
  request->selectors = ReadSelectors(errors, fields.FindList("selectors"));
  if (!request->selectors.empty()) AddFeature(features, Feature::kClaimSelectors);
  if (const auto* tolerations = fields.FindList("tolerations"); HasItems(tolerations)) {
    AddFeature(features, Feature::kClaimTolerations);
    for (const YamlNode& item : tolerations->items) {
      request->tolerations.push_back(ReadDeviceToleration(errors, item));
    }
  }
  if (const auto* capacity = fields.FindMap("capacity")) {
    AddFeature(features, Feature::kClaimCapacity);
    YamlFields parts(errors, *capacity, "the request's capacity");
    if (const auto* amounts = parts.FindMap("requests")) {
      request->capacity = ReadAmounts(errors, *amounts, "a capacity");
    }
  }
  if (HasItems(fields.FindList("derivedAttributes"))) {
    AddFeature(features, Feature::kClaimDerivedAttributes);
  }
}

void ReadAlternatives(YamlErrors& errors, const YamlNode& list, DeviceRequest* request,
                      FeatureUses& features) {
  AddFeature(features, Feature::kClaimAlternatives);
  request->is_list = true;
  if (list.items.empty() || list.items.size() > static_cast<size_t>(kAlternativesMax)) {
    errors.Add(list.at, "firstAvailable has " + std::to_string(list.items.size()) +
                            " alternatives, expected 1 to " + std::to_string(kAlternativesMax));
  }
  for (const YamlNode& item : list.items) {
    ExactRequest alternative;
    YamlFields fields(errors, item, "an alternative");
    fields.ReadRequired("name", &alternative.name);
    ReadWishes(errors, fields, &alternative, features);
    request->alternatives.push_back(std::move(alternative));
  }
}

DeviceRequest ReadRequest(YamlErrors& errors, const YamlNode& node, FeatureUses& features) {
  DeviceRequest request;
  YamlFields fields(errors, node, "a device request");
  fields.ReadRequired("name", &request.name);
  const YamlNode* exactly = fields.Find("exactly");
  const YamlNode* first = fields.FindList("firstAvailable");
  if ((exactly != nullptr) == (first != nullptr)) {
    errors.Add(node.at,
               exactly == nullptr
                   ? "a device request has neither exactly nor firstAvailable, expected one"
                   : "a device request has exactly and firstAvailable, expected one");
  } else if (first != nullptr) {
    ReadAlternatives(errors, *first, &request, features);
  } else {
    ExactRequest exact;
    exact.name = request.name;
    YamlFields parts(errors, *exactly, "the exact request");
    ReadWishes(errors, parts, &exact, features);
    parts.Read("adminAccess", &exact.has_admin_access);
    if (exact.has_admin_access) AddFeature(features, Feature::kClaimAdminAccess);
    request.alternatives.push_back(std::move(exact));
  }
  return request;
}

// Whether the claim has such a request, "request" or "request/alternative".
bool HasRequest(const ClaimSpec& claim, const std::string& name) {
  return std::any_of(claim.requests.begin(), claim.requests.end(),
                     [&](const DeviceRequest& request) {
                       if (request.name == name) return true;
                       return request.is_list &&
                              std::any_of(request.alternatives.begin(), request.alternatives.end(),
                                          [&](const ExactRequest& alternative) {
                                            return request.name + '/' + alternative.name == name;
                                          });
                     });
}

DeviceConstraint ReadConstraint(YamlErrors& errors, const YamlNode& node, const ClaimSpec& claim) {
  DeviceConstraint constraint;
  std::string match;
  std::string distinct;
  YamlFields fields(errors, node, "a constraint");
  fields.Read("requests", &constraint.requests);
  fields.Read("matchAttribute", &match);
  fields.Read("distinctAttribute", &distinct);
  if (match.empty() == distinct.empty()) {
    errors.Add(node.at, "expected either matchAttribute or distinctAttribute in a constraint");
  }
  constraint.wants_distinct = match.empty();
  constraint.attribute = match.empty() ? distinct : match;
  if (constraint.attribute.find('/') == std::string::npos) {
    errors.Add(node.at, "the attribute is \"" + constraint.attribute.substr(0, 60) +
                            "\", expected domain/name");
  }
  for (const std::string& name : constraint.requests) {
    if (HasRequest(claim, name)) continue;
    errors.Add(node.at, "the constraint is on \"" + name.substr(0, 60) +
                            "\", expected a request of the claim");
  }
  return constraint;
}

}  // namespace

bool ReadAmount(YamlErrors& errors, const YamlNode& node, std::string_view what, Quantity* out) {
  std::string text;
  if (!ReadYaml(errors, node, what, &text)) return false;
  const auto amount = Quantity::Parse(text);
  if (amount && !amount->negative()) {
    *out = *amount;
    return true;
  }
  errors.Add(node.at, std::string(what) + " is \"" + text.substr(0, 60) +
                          "\", expected a quantity such as 100m, 500Mi or 2");
  return false;
}

std::vector<std::pair<std::string, Quantity>> ReadAmounts(YamlErrors& errors, const YamlNode& node,
                                                          std::string_view what) {
  std::vector<std::pair<std::string, Quantity>> amounts;
  for (const YamlEntry& entry : node.entries) {
    Quantity amount;
    if (!ReadAmount(errors, entry.value, std::string(what) + ' ' + entry.key, &amount)) break;
    amounts.emplace_back(entry.key, amount);
  }
  std::sort(amounts.begin(), amounts.end());
  return amounts;
}

Taint ReadDeviceTaint(YamlErrors& errors, const YamlNode& node) {
  Taint taint;
  YamlFields fields(errors, node, "a device taint");
  fields.ReadRequired("key", &taint.key);
  fields.Read("value", &taint.value);
  fields.ReadRequired("effect", &taint.effect);
  fields.Ignore({"timeAdded"});
  if (taint.effect != "NoSchedule" && taint.effect != "NoExecute" && taint.effect != "None") {
    errors.Add(node.at,
               "effect is \"" + taint.effect + "\", expected NoSchedule, NoExecute or None");
  }
  return taint;
}

ClaimSpec ReadClaimSpec(YamlErrors& errors, const YamlNode& spec, FeatureUses& features) {
  ClaimSpec claim;
  YamlFields fields(errors, spec, "the claim's spec");
  // A field of an earlier version of the API, which the API server drops.
  fields.Ignore({"controller"});
  const YamlNode* devices = fields.Find("devices");
  if (devices == nullptr) return claim;
  YamlFields parts(errors, *devices, "devices");
  if (const auto* requests = parts.FindList("requests")) {
    for (const YamlNode& item : requests->items) {
      claim.requests.push_back(ReadRequest(errors, item, features));
    }
  }
  if (const auto* constraints = parts.FindList("constraints"); HasItems(constraints)) {
    AddFeature(features, Feature::kClaimConstraints);
    for (const YamlNode& item : constraints->items) {
      claim.constraints.push_back(ReadConstraint(errors, item, claim));
    }
  }
  parts.Ignore({"config"});
  return claim;
}

DeviceClassObject ReadDeviceClassBody(YamlErrors& errors, const YamlNode* spec,
                                      FeatureUses& features) {
  DeviceClassObject body;
  if (spec == nullptr) return body;
  YamlFields fields(errors, *spec, "the device class's spec");
  body.selectors = ReadSelectors(errors, fields.FindList("selectors"));
  if (!body.selectors.empty()) AddFeature(features, Feature::kClassSelectors);
  if (fields.Read("extendedResourceName", &body.extended_resource)) {
    AddFeature(features, Feature::kClassExtendedResource);
  }
  fields.Ignore({"config"});
  return body;
}

DeviceTaintRuleObject ReadTaintRuleBody(YamlErrors& errors, const YamlNode& spec) {
  DeviceTaintRuleObject rule;
  YamlFields fields(errors, spec, "the device taint rule's spec");
  if (const auto* selector = fields.FindMap("deviceSelector")) {
    YamlFields parts(errors, *selector, "the device selector");
    parts.Read("driver", &rule.driver);
    parts.Read("pool", &rule.pool);
    parts.Read("device", &rule.device);
  }
  if (const auto* taint = fields.Require("taint")) rule.taint = ReadDeviceTaint(errors, *taint);
  return rule;
}

}  // namespace schedq
