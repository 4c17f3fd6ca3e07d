#include "bench/format/objects/object_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/quantity.h"
#include "bench/format/objects/rules_reader.h"
#include "bench/format/objects/storage_reader.h"
#include "engine/object.h"
#include "engine/pod_rules.h"

namespace schedq {
namespace {

// True for kinds that no plugin of the scheduler reads.
bool IsInertKind(std::string_view kind) {
  static constexpr std::array<std::string_view, 8> kInert = {
      "ConfigMap",  "Secret",     "Service",    "ServiceAccount",
      "Deployment", "ReplicaSet", "LimitRange", "ResourceQuota"};
  return std::find(kInert.begin(), kInert.end(), kind) != kInert.end();
}

ObjectMetadata ReadMetadata(YamlErrors& errors, const YamlNode& node) {
  ObjectMetadata metadata;
  YamlFields fields(errors, node, "metadata");
  fields.Read("name", &metadata.name);
  fields.Read("generateName", &metadata.generate_name);
  fields.Read("namespace", &metadata.namespace_name);
  if (const auto* labels = fields.Find("labels")) {
    metadata.labels = ReadLabels(errors, *labels, "labels");
  }
  if (const auto* annotations = fields.Find("annotations")) {
    metadata.annotations = ReadLabels(errors, *annotations, "annotations");
  }
  fields.Read("finalizers", &metadata.finalizers);
  if (const auto* owners = fields.FindList("ownerReferences")) {
    for (const YamlNode& item : owners->items) {
      std::string kind;
      std::string name;
      YamlFields owner(errors, item, "an owner reference");
      owner.ReadRequired("kind", &kind);
      owner.ReadRequired("name", &name);
      owner.Ignore({"apiVersion", "uid", "controller", "blockOwnerDeletion"});
      metadata.owners.push_back(kind + "/" + name);
    }
  }
  fields.Ignore({"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
                 "deletionGracePeriodSeconds", "managedFields", "selfLink"});
  return metadata;
}

ResourceClaimTemplateObject ReadClaimTemplateBody(YamlErrors& errors, const YamlNode& spec,
                                                  FeatureUses& features) {
  ResourceClaimTemplateObject body;
  YamlFields fields(errors, spec, "the template's spec");
  if (const auto* metadata = fields.Find("metadata")) {
    body.claim_labels = ReadMetadata(errors, *metadata).labels;
  }
  if (const auto* claim = fields.Require("spec")) {
    body.spec = ReadClaimSpec(errors, *claim, features);
  }
  return body;
}

// What a new pod does not have, and an update may say.
void ReadPodStatus(YamlErrors& errors, const YamlNode& node, Pod* pod) {
  YamlFields fields(errors, node, "the pod's status");
  fields.AllowOthers();
  fields.Read("nominatedNodeName", &pod->nominated_node_name);
  const YamlNode* conditions = fields.FindList("conditions");
  if (conditions == nullptr) return;
  for (const YamlNode& item : conditions->items) {
    PodCondition condition;
    YamlFields parts(errors, item, "a condition");
    parts.ReadRequired("type", &condition.type);
    parts.ReadRequired("status", &condition.status);
    parts.Read("reason", &condition.reason);
    parts.Read("message", &condition.message);
    parts.Ignore({"lastProbeTime", "lastTransitionTime", "observedGeneration"});
    pod->conditions.push_back(std::move(condition));
  }
}

PriorityClassObject ReadPriorityClass(YamlErrors& errors, YamlFields& fields) {
  constexpr int64_t kValueMax = 2'000'001'000;
  PriorityClassObject body;
  int64_t value = 0;
  std::string policy;
  if (fields.ReadRequired("value", &value) && (value < INT32_MIN || value > kValueMax)) {
    errors.Add(fields.node().at, "value is " + std::to_string(value) + ", expected at most " +
                                     std::to_string(kValueMax));
  }
  body.value = static_cast<int32_t>(value);
  fields.Read("globalDefault", &body.is_default);
  if (fields.Read("preemptionPolicy", &policy)) {
    body.never_preempts = IsNever(errors, fields.node().at, policy);
  }
  fields.Ignore({"description"});
  return body;
}

// False: the object is no object of storage.
bool ReadStorageBody(YamlErrors& errors, YamlFields& fields, ApiObject* object) {
  const std::string& kind = object->kind;
  if (kind == "PersistentVolume") {
    AddFeature(object->features, Feature::kPersistentVolumes);
    const auto* spec = fields.Require("spec");
    if (spec != nullptr) object->body = ReadPersistentVolumeBody(errors, *spec);
  } else if (kind == "PersistentVolumeClaim") {
    AddFeature(object->features, Feature::kPersistentVolumes);
    const auto* spec = fields.Require("spec");
    if (spec != nullptr) object->body = ReadPersistentVolumeClaimBody(errors, *spec);
  } else if (kind == "StorageClass") {
    object->body = ReadStorageClassBody(fields);
  } else if (kind == "CSINode") {
    object->body = ReadCsiNodeBody(errors, fields.Find("spec"), object->metadata.annotations);
  } else {
    return false;
  }
  fields.Ignore({"status"});
  return true;
}

void ReadBody(YamlErrors& errors, YamlFields& fields, ApiObject* object) {
  const std::string& kind = object->kind;
  if (kind == "Pod") {
    PodObject body = ReadPodBody(errors, fields.Require("spec"), object->features);
    if (const auto* status = fields.Find("status")) ReadPodStatus(errors, *status, &body.pod);
    object->body = std::move(body);
  } else if (kind == "Node") {
    const YamlNode* spec = fields.Find("spec");
    object->body = ReadNodeBody(errors, spec, fields.Find("status"));
  } else if (kind == "ResourceClaim") {
    ResourceClaimObject body;
    if (const auto* spec = fields.Require("spec")) {
      body.spec = ReadClaimSpec(errors, *spec, object->features);
    }
    object->body = std::move(body);
    fields.Ignore({"status"});
  } else if (kind == "ResourceClaimTemplate") {
    if (const auto* spec = fields.Require("spec")) {
      object->body = ReadClaimTemplateBody(errors, *spec, object->features);
    }
  } else if (kind == "DeviceClass") {
    object->body = ReadDeviceClassBody(errors, fields.Find("spec"), object->features);
  } else if (kind == "ResourceSlice") {
    if (const auto* spec = fields.Require("spec")) {
      object->body =
          ReadResourceSliceBody(errors, *spec, object->metadata.annotations, object->features);
    }
  } else if (kind == "PodGroup" || kind == "CompositePodGroup") {
    AddFeature(object->features, Feature::kPodGroups);
    if (const auto* spec = fields.Require("spec")) {
      object->body = ReadPodGroupBody(errors, *spec, kind == "CompositePodGroup", object->features);
    }
  } else if (kind == "DeviceTaintRule") {
    AddFeature(object->features, Feature::kSliceTaints);
    if (const auto* spec = fields.Require("spec")) object->body = ReadTaintRuleBody(errors, *spec);
    fields.Ignore({"status"});
  } else if (kind == "PodDisruptionBudget") {
    if (const auto* spec = fields.Require("spec")) {
      object->body = ReadDisruptionBudgetBody(errors, *spec);
    }
    fields.Ignore({"status"});
  } else if (kind == "PriorityClass") {
    object->body = ReadPriorityClass(errors, fields);
  } else if (kind == "Namespace") {
    object->body = NamespaceObject{};
    fields.Ignore({"spec", "status"});
  } else if (!ReadStorageBody(errors, fields, object)) {
    if (!IsInertKind(kind)) AddFeature(object->features, Feature::kObjectKind, kind);
    fields.AllowOthers();
  }
}

NodeImage ReadImage(YamlErrors& errors, const YamlNode& node) {
  NodeImage image;
  YamlFields fields(errors, node, "an image");
  fields.Read("names", &image.names);
  fields.Read("sizeBytes", &image.bytes);
  for (std::string& name : image.names) name = WithTag(name);
  return image;
}

// Copies the metadata into the engine's pod, which has fields of its own for them.
void FinishPod(ApiObject* object) {
  if (auto* body = std::get_if<PodObject>(&object->body)) {
    body->pod.labels = object->metadata.labels;
    if (body->pod.rules != nullptr) {
      auto rules = std::make_shared<PodRules>(*body->pod.rules);
      MergeLabelKeys(object->metadata.labels, rules.get());
      body->pod.rules = std::move(rules);
    }
    body->pod.namespace_name = object->metadata.namespace_name;
    body->pod.name = object->metadata.name;
  }
}

}  // namespace

ApiObject ReadApiObject(YamlErrors& errors, const YamlNode& root) {
  ApiObject object;
  if (root.kind != YamlKind::kMap) {
    errors.Add(root.at, "the object is " + std::string(YamlKindName(root.kind)) +
                            ", expected a map with apiVersion and kind");
    return object;
  }
  YamlFields fields(errors, root, "the object");
  fields.ReadRequired("apiVersion", &object.api_version);
  if (!fields.ReadRequired("kind", &object.kind)) return object;
  if (const auto* metadata = fields.Find("metadata")) {
    object.metadata = ReadMetadata(errors, *metadata);
  }
  ReadBody(errors, fields, &object);
  FinishPod(&object);
  return object;
}

std::string WithTag(const std::string& image) {
  const size_t colon = image.rfind(':');
  const size_t slash = image.rfind('/');
  const bool has_tag = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return has_tag ? image : image + ":latest";
}

Labels ReadLabels(YamlErrors& errors, const YamlNode& node, std::string_view what) {
  Labels labels;
  if (node.kind != YamlKind::kMap) {
    errors.Add(node.at, std::string(what) + " is " + std::string(YamlKindName(node.kind)) +
                            ", expected a map of strings");
    return labels;
  }
  for (const YamlEntry& entry : node.entries) {
    std::string value;
    if (!entry.value.IsNull()) ReadYaml(errors, entry.value, entry.key, &value);
    labels.emplace_back(entry.key, std::move(value));
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

ResourceList ReadResourceList(YamlErrors& errors, const YamlNode& node) {
  ResourceList resources;
  if (node.kind != YamlKind::kMap) {
    errors.Add(node.at, "resources are " + std::string(YamlKindName(node.kind)) +
                            ", expected a map of quantities");
    return resources;
  }
  for (const YamlEntry& entry : node.entries) {
    std::string text;
    if (!ReadYaml(errors, entry.value, entry.key, &text)) return resources;
    const auto quantity = Quantity::Parse(text);
    if (!quantity || quantity->negative()) {
      errors.Add(entry.value.at, entry.key + " is \"" + text.substr(0, 60) +
                                     "\", expected a quantity such as 100m, 500Mi or 2");
      return resources;
    }
    resources.emplace_back(entry.key,
                           entry.key == "cpu" ? quantity->MilliValue() : quantity->Value());
  }
  std::sort(resources.begin(), resources.end());
  return resources;
}

NodeObject ReadNodeBody(YamlErrors& errors, const YamlNode* spec, const YamlNode* status) {
  NodeObject node;
  if (spec != nullptr) {
    YamlFields fields(errors, *spec, "the node's spec");
    fields.Read("unschedulable", &node.unschedulable);
    if (const auto* taints = fields.FindList("taints")) {
      for (const YamlNode& item : taints->items) {
        Taint taint;
        YamlFields parts(errors, item, "a taint");
        parts.ReadRequired("key", &taint.key);
        parts.Read("value", &taint.value);
        parts.ReadRequired("effect", &taint.effect);
        parts.Ignore({"timeAdded"});
        node.taints.push_back(std::move(taint));
      }
    }
    fields.Ignore({"podCIDR", "podCIDRs", "providerID", "configSource", "externalID"});
  }
  if (status == nullptr) return node;
  YamlFields fields(errors, *status, "the node's status");
  if (const auto* capacity = fields.Find("capacity")) {
    node.capacity = ReadResourceList(errors, *capacity);
  }
  node.allocatable = node.capacity;
  if (const auto* allocatable = fields.Find("allocatable")) {
    node.allocatable = ReadResourceList(errors, *allocatable);
  }
  if (const auto* conditions = fields.FindList("conditions")) {
    for (const YamlNode& item : conditions->items) {
      std::string type;
      std::string value;
      YamlFields condition(errors, item, "a condition");
      condition.ReadRequired("type", &type);
      condition.ReadRequired("status", &value);
      condition.Ignore({"reason", "message", "lastHeartbeatTime", "lastTransitionTime"});
      if (type == "Ready") node.ready = value == "True";
    }
  }
  if (const auto* images = fields.FindList("images")) {
    for (const YamlNode& item : images->items) node.images.push_back(ReadImage(errors, item));
  }
  FeatureNames declared;
  if (fields.Read("declaredFeatures", &declared) && !declared.empty()) {
    std::sort(declared.begin(), declared.end());
    node.declared_features = std::make_shared<const FeatureNames>(std::move(declared));
  }
  fields.Ignore({"phase", "addresses", "daemonEndpoints", "nodeInfo", "volumesInUse",
                 "volumesAttached", "config", "runtimeHandlers", "features"});
  return node;
}

Toleration ReadToleration(YamlErrors& errors, const YamlNode& node, const char* what) {
  Toleration toleration;
  std::string op = "Equal";
  YamlFields fields(errors, node, what);
  fields.Read("key", &toleration.key);
  fields.Read("value", &toleration.value);
  fields.Read("effect", &toleration.effect);
  fields.Read("operator", &op);
  fields.Ignore({"tolerationSeconds"});
  if (op != "Equal" && op != "Exists") {
    errors.Add(node.at, "operator is \"" + op + "\", expected Equal or Exists");
  }
  toleration.exists = op == "Exists";
  return toleration;
}

bool HasStatus(std::string_view kind) {
  static constexpr std::array<std::string_view, 14> kKinds = {"Node",
                                                              "Namespace",
                                                              "Pod",
                                                              "ResourceClaim",
                                                              "PersistentVolume",
                                                              "PersistentVolumeClaim",
                                                              "PodGroup",
                                                              "CompositePodGroup",
                                                              "PodDisruptionBudget",
                                                              "Service",
                                                              "Deployment",
                                                              "ReplicaSet",
                                                              "ResourceQuota",
                                                              "CustomResourceDefinition"};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

std::optional<bool> IsNamespacedKind(std::string_view kind) {
  static constexpr std::array<std::string_view, 13> kCluster = {"Node",
                                                                "Namespace",
                                                                "PersistentVolume",
                                                                "DeviceClass",
                                                                "ResourceSlice",
                                                                "DeviceTaintRule",
                                                                "StorageClass",
                                                                "CSINode",
                                                                "CSIDriver",
                                                                "PriorityClass",
                                                                "VolumeAttachment",
                                                                "RuntimeClass",
                                                                "CustomResourceDefinition"};
  static constexpr std::array<std::string_view, 17> kNamespaced = {"Pod",
                                                                   "ResourceClaim",
                                                                   "ResourceClaimTemplate",
                                                                   "PersistentVolumeClaim",
                                                                   "PodGroup",
                                                                   "Service",
                                                                   "ConfigMap",
                                                                   "Secret",
                                                                   "Deployment",
                                                                   "ReplicaSet",
                                                                   "ServiceAccount",
                                                                   "PodDisruptionBudget",
                                                                   "LimitRange",
                                                                   "ResourceQuota",
                                                                   "CSIStorageCapacity",
                                                                   "CompositePodGroup",
                                                                   "Workload"};
  if (std::find(kCluster.begin(), kCluster.end(), kind) != kCluster.end()) return false;
  if (std::find(kNamespaced.begin(), kNamespaced.end(), kind) != kNamespaced.end()) return true;
  return std::nullopt;
}

}  // namespace schedq
