// Reads the spec of a pod.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_reader.h"
#include "bench/format/workload/features.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/pod.h"

namespace schedq {
namespace {

// A resource named with this prefix and a device class is a device of that class.
constexpr std::string_view kDeviceClassResource = "deviceclass.resource.kubernetes.io/";

// The needs of one container.
struct ContainerNeeds {
  ResourceList requests;
  bool is_sidecar = false;  // An init container that keeps running.
};

int64_t& Amount(ResourceList& list, const std::string& name) {
  const auto at = std::lower_bound(
      list.begin(), list.end(), name,
      [](const auto& pair, const std::string& wanted) { return pair.first < wanted; });
  if (at != list.end() && at->first == name) return at->second;
  return list.insert(at, {name, 0})->second;
}

// The sum saturates: an amount beyond 64 bits fits no node anyway.
void Add(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, amount] : more) {
    int64_t& total = Amount(sum, name);
    if (__builtin_add_overflow(total, amount, &total)) total = INT64_MAX;
  }
}

void RaiseTo(ResourceList& maximum, const ResourceList& other) {
  for (const auto& [name, amount] : other) {
    int64_t& current = Amount(maximum, name);
    current = std::max(current, amount);
  }
}

// Reads the requests; a resource without a request takes its limit.
ResourceList ReadResources(YamlErrors& errors, const YamlNode& node) {
  ResourceList requests;
  YamlFields fields(errors, node, "resources");
  if (const auto* limits = fields.Find("limits")) requests = ReadResourceList(errors, *limits);
  if (const auto* wanted = fields.Find("requests")) {
    for (const auto& [name, amount] : ReadResourceList(errors, *wanted)) {
      Amount(requests, name) = amount;
    }
  }
  fields.Ignore({"claims"});
  return requests;
}

ContainerNeeds ReadContainer(YamlErrors& errors, const YamlNode& node, FeatureUses& features) {
  ContainerNeeds needs;
  std::string text;
  YamlFields fields(errors, node, "a container");
  fields.ReadRequired("name", &text);
  if (const auto* resources = fields.Find("resources")) {
    needs.requests = ReadResources(errors, *resources);
  }
  if (const auto* ports = fields.FindList("ports")) {
    for (const YamlNode& item : ports->items) {
      int64_t host_port = 0;
      YamlFields port(errors, item, "a port");
      port.Read("hostPort", &host_port);
      port.Ignore({"name", "containerPort", "hostIP", "protocol"});
      if (host_port != 0) AddFeature(features, Feature::kHostPorts);
    }
  }
  if (fields.Read("restartPolicy", &text)) needs.is_sidecar = text == "Always";
  fields.Ignore({"image",
                 "command",
                 "args",
                 "workingDir",
                 "envFrom",
                 "env",
                 "resizePolicy",
                 "restartPolicyRules",
                 "volumeMounts",
                 "volumeDevices",
                 "livenessProbe",
                 "readinessProbe",
                 "startupProbe",
                 "lifecycle",
                 "terminationMessagePath",
                 "terminationMessagePolicy",
                 "imagePullPolicy",
                 "securityContext",
                 "stdin",
                 "stdinOnce",
                 "tty"});
  return needs;
}

std::vector<ContainerNeeds> ReadContainers(YamlErrors& errors, const YamlNode* list,
                                           FeatureUses& features) {
  std::vector<ContainerNeeds> containers;
  if (list == nullptr) return containers;
  for (const YamlNode& item : list->items) {
    containers.push_back(ReadContainer(errors, item, features));
  }
  return containers;
}

// A pod's request without overhead, for each resource the larger of two amounts. The first is the
// sum of all containers and sidecars. The second is the largest that any init container has
// together with the sidecars before it.
ResourceList SumRequests(const std::vector<ContainerNeeds>& containers,
                         const std::vector<ContainerNeeds>& init_containers) {
  ResourceList together;
  for (const ContainerNeeds& container : containers) Add(together, container.requests);
  ResourceList sidecars;
  ResourceList starting;
  for (const ContainerNeeds& container : init_containers) {
    if (container.is_sidecar) {
      Add(together, container.requests);
      Add(sidecars, container.requests);
      RaiseTo(starting, sidecars);
    } else {
      ResourceList now = sidecars;
      Add(now, container.requests);
      RaiseTo(starting, now);
    }
  }
  RaiseTo(together, starting);
  return together;
}

void ReadRequests(YamlErrors& errors, YamlFields& fields, PodObject* body, FeatureUses& features) {
  const auto containers = ReadContainers(errors, fields.FindList("containers"), features);
  if (containers.empty() && errors.ok()) {
    errors.Add(fields.node().at, "the pod has no containers, expected at least one");
  }
  const auto inits = ReadContainers(errors, fields.FindList("initContainers"), features);
  body->pod.requests = SumRequests(containers, inits);
  if (const auto* resources = fields.Find("resources")) {  // Requests of the pod replace the sum.
    for (const auto& [name, amount] : ReadResources(errors, *resources)) {
      Amount(body->pod.requests, name) = amount;
    }
  }
  if (const auto* overhead = fields.Find("overhead")) {
    Add(body->pod.requests, ReadResourceList(errors, *overhead));
  }
  for (const auto& [name, amount] : body->pod.requests) {
    if (name.starts_with(kDeviceClassResource)) {
      AddFeature(features, Feature::kImplicitExtendedResource);
    }
  }
}

void ReadTolerations(YamlErrors& errors, const YamlNode* list, Pod* pod) {
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    Toleration toleration;
    std::string op = "Equal";
    YamlFields fields(errors, item, "a toleration");
    fields.Read("key", &toleration.key);
    fields.Read("value", &toleration.value);
    fields.Read("effect", &toleration.effect);
    fields.Read("operator", &op);
    fields.Ignore({"tolerationSeconds"});
    if (op != "Equal" && op != "Exists") {
      errors.Add(item.at, "operator is \"" + op + "\", expected Equal or Exists");
    }
    toleration.exists = op == "Exists";
    pod->tolerations.push_back(std::move(toleration));
  }
}

void ReadClaims(YamlErrors& errors, const YamlNode* list, PodObject* body) {
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    PodClaim claim;
    YamlFields fields(errors, item, "a resource claim of the pod");
    fields.ReadRequired("name", &claim.name);
    fields.Read("resourceClaimName", &claim.claim_name);
    fields.Read("resourceClaimTemplateName", &claim.template_name);
    if (claim.claim_name.empty() == claim.template_name.empty()) {
      errors.Add(item.at,
                 "expected either resourceClaimName or resourceClaimTemplateName in a claim");
    }
    if (!claim.claim_name.empty()) {
      body->pod.claims.push_back(claim.claim_name);
    } else {
      body->pod.claim_templates.push_back(claim.name);
    }
    body->claims.push_back(std::move(claim));
  }
}

// An engine pod can only express terms of the form "label in values" that must all hold.
void FillEngineAffinity(PodObject* body) {
  if (body->node_terms.size() != 1) return;
  for (const NodeRequirement& requirement : body->node_terms[0]) {
    if (requirement.is_field || requirement.op != NodeRequirement::Operator::kIn) {
      body->pod.node_affinity.clear();
      return;
    }
    body->pod.node_affinity.push_back({requirement.key, requirement.values});
  }
}

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

// Notes the required and the preferred half of a pod affinity.
void NotePodAffinity(YamlErrors& errors, const YamlNode* node, Feature required, Feature preferred,
                     FeatureUses& features) {
  if (node == nullptr) return;
  YamlFields fields(errors, *node, "the pod affinity");
  const auto* hard = fields.FindList(kRequired);
  const auto* soft = fields.FindList(kPreferred);
  if (hard != nullptr && !hard->items.empty()) AddFeature(features, required);
  if (soft != nullptr && !soft->items.empty()) AddFeature(features, preferred);
}

void ReadAffinity(YamlErrors& errors, const YamlNode* node, PodObject* body,
                  FeatureUses& features) {
  if (node == nullptr) return;
  YamlFields fields(errors, *node, "affinity");
  if (const auto* affinity = fields.Find("nodeAffinity")) {
    YamlFields parts(errors, *affinity, "the node affinity");
    if (const auto* required = parts.Find(kRequired)) {
      body->node_terms = ReadNodeSelector(errors, *required);
      AddFeature(features, Feature::kNodeAffinity);
    }
    const auto* preferred = parts.FindList(kPreferred);
    if (preferred != nullptr && !preferred->items.empty()) {
      AddFeature(features, Feature::kPreferredNodeAffinity);
    }
  }
  NotePodAffinity(errors, fields.Find("podAffinity"), Feature::kPodAffinity,
                  Feature::kPreferredPodAffinity, features);
  NotePodAffinity(errors, fields.Find("podAntiAffinity"), Feature::kPodAntiAffinity,
                  Feature::kPreferredPodAntiAffinity, features);
  FillEngineAffinity(body);
}

void NoteTopologySpread(YamlErrors& errors, const YamlNode* list, FeatureUses& features) {
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    std::string when;
    YamlFields fields(errors, item, "a topology spread constraint");
    fields.ReadRequired("whenUnsatisfiable", &when);
    fields.Ignore({"maxSkew", "minDomains", "topologyKey", "labelSelector", "matchLabelKeys",
                   "nodeAffinityPolicy", "nodeTaintsPolicy"});
    AddFeature(features, when == "ScheduleAnyway" ? Feature::kPreferredTopologySpread
                                                  : Feature::kTopologySpread);
  }
}

// Notes the volumes that scheduling reads; other volumes need no feature.
void NoteVolumes(YamlErrors& errors, const YamlNode* list, FeatureUses& features) {
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    YamlFields fields(errors, item, "a volume");
    fields.AllowOthers();
    for (const char* source :
         {"persistentVolumeClaim", "ephemeral", "gcePersistentDisk", "awsElasticBlockStore",
          "azureDisk", "rbd", "iscsi", "csi", "cinder"}) {
      if (fields.Find(source) != nullptr) AddFeature(features, Feature::kPersistentVolumes);
    }
  }
}

void ReadPriority(YamlErrors& errors, YamlFields& fields, PodObject* body, FeatureUses& features) {
  int64_t priority = 0;
  std::string name;
  if (fields.Read("priorityClassName", &name)) {
    if (name == "system-cluster-critical") {
      priority = 2'000'000'000;
    } else if (name == "system-node-critical") {
      priority = 2'000'001'000;
    } else {
      AddFeature(features, Feature::kPriorityClasses, name);
    }
  }
  if (fields.Read("priority", &priority) && (priority < INT32_MIN || priority > INT32_MAX)) {
    errors.Add(fields.node().at, "priority is out of range, expected 32 bits");
  }
  body->pod.priority = static_cast<int32_t>(priority);
  std::string policy = "PreemptLowerPriority";
  fields.Read("preemptionPolicy", &policy);
  body->never_preempts = policy == "Never";
  if (!body->never_preempts && policy != "PreemptLowerPriority") {
    errors.Add(fields.node().at,
               "preemptionPolicy is \"" + policy + "\", expected PreemptLowerPriority or Never");
  }
}

void NotePlacement(YamlFields& fields, FeatureUses& features) {
  std::string name;
  if (fields.Read("nodeName", &name) && !name.empty()) {
    AddFeature(features, Feature::kPreboundPods);
  }
  if (fields.Read("schedulerName", &name) && name != "default-scheduler") {
    AddFeature(features, Feature::kOtherScheduler, name);
  }
  if (fields.Find("schedulingGroup") != nullptr || fields.Find("workloadRef") != nullptr) {
    AddFeature(features, Feature::kPodGroups);
  }
}

}  // namespace

PodObject ReadPodBody(YamlErrors& errors, const YamlNode* spec, FeatureUses& features) {
  PodObject body;
  if (spec == nullptr) return body;
  Pod& pod = body.pod;
  YamlFields fields(errors, *spec, "the pod's spec");
  ReadRequests(errors, fields, &body, features);
  ReadTolerations(errors, fields.FindList("tolerations"), &pod);
  ReadClaims(errors, fields.FindList("resourceClaims"), &body);
  ReadAffinity(errors, fields.Find("affinity"), &body, features);
  NoteTopologySpread(errors, fields.FindList("topologySpreadConstraints"), features);
  NoteVolumes(errors, fields.FindList("volumes"), features);
  ReadPriority(errors, fields, &body, features);
  NotePlacement(fields, features);
  if (const auto* selector = fields.Find("nodeSelector")) {
    pod.node_selector = ReadLabels(errors, *selector, "nodeSelector");
  }
  if (const auto* gates = fields.FindList("schedulingGates")) {
    for (const YamlNode& item : gates->items) {
      std::string name;
      YamlFields gate(errors, item, "a scheduling gate");
      if (gate.ReadRequired("name", &name)) pod.scheduling_gates.push_back(std::move(name));
    }
  }
  fields.Ignore({"ephemeralContainers",
                 "restartPolicy",
                 "terminationGracePeriodSeconds",
                 "activeDeadlineSeconds",
                 "dnsPolicy",
                 "serviceAccountName",
                 "serviceAccount",
                 "automountServiceAccountToken",
                 "hostNetwork",
                 "hostPID",
                 "hostIPC",
                 "shareProcessNamespace",
                 "securityContext",
                 "imagePullSecrets",
                 "hostname",
                 "subdomain",
                 "hostAliases",
                 "dnsConfig",
                 "readinessGates",
                 "runtimeClassName",
                 "enableServiceLinks",
                 "setHostnameAsFQDN",
                 "os",
                 "hostUsers",
                 "hostnameOverride"});
  return body;
}

}  // namespace schedq
