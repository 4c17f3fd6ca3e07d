// Reads the spec of a pod.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_reader.h"
#include "bench/format/objects/rules_reader.h"
#include "bench/format/objects/storage_reader.h"
#include "bench/format/workload/features.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "engine/pod_volumes.h"

namespace schedq {
namespace {

// A resource named with this prefix and a device class is a device of that class.
constexpr std::string_view kDeviceClassResource = "deviceclass.resource.kubernetes.io/";

// A pod that is being read.
struct PodReading {
  PodObject body;
  PodRules rules;
  bool uses_node_network = false;
  bool restarts_all = false;        // A container's exit may restart all of them.
  bool binds_with_options = false;  // A volume is mounted with bindMountOptions.
  FeatureUses& features;
};

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

// The amount, or null where there is none.
const int64_t* Find(const ResourceList& list, const std::string& name) {
  for (const auto& [present, amount] : list) {
    if (present == name) return &amount;
  }
  return nullptr;
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

// What a container does that not every node can.
void NoteUseOfFeatures(YamlErrors& errors, YamlFields& fields, PodReading* reading) {
  const auto any_of = [&](const char* key, const auto& says) {
    const YamlNode* list = fields.FindList(key);
    if (list == nullptr) return false;
    return std::any_of(list->items.begin(), list->items.end(), [&](const YamlNode& item) {
      YamlFields parts(errors, item, key);
      parts.AllowOthers();
      return says(parts);
    });
  };
  reading->restarts_all |= any_of("restartPolicyRules", [](YamlFields& rule) {
    std::string action;
    return rule.Read("action", &action) && action == "RestartAllContainers";
  });
  reading->binds_with_options |= any_of("volumeMounts", [](YamlFields& mount) {
    const YamlNode* options = mount.FindList("bindMountOptions");
    return options != nullptr && !options->items.empty();
  });
}

ContainerNeeds ReadContainer(YamlErrors& errors, const YamlNode& node, PodReading* reading) {
  ContainerNeeds needs;
  std::string text;
  YamlFields fields(errors, node, "a container");
  fields.ReadRequired("name", &text);
  if (const auto* resources = fields.Find("resources")) {
    needs.requests = ReadResources(errors, *resources);
  }
  ReadHostPorts(errors, fields.FindList("ports"), reading->uses_node_network, &reading->rules,
                reading->features);
  if (fields.Read("image", &text)) reading->body.images.push_back(WithTag(text));
  if (fields.Read("restartPolicy", &text)) needs.is_sidecar = text == "Always";
  NoteUseOfFeatures(errors, fields, reading);
  fields.Ignore({"command", "args", "workingDir", "envFrom", "env", "resizePolicy", "volumeDevices",
                 "livenessProbe", "readinessProbe", "startupProbe", "lifecycle",
                 "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy",
                 "securityContext", "stdin", "stdinOnce", "tty"});
  return needs;
}

std::vector<ContainerNeeds> ReadContainers(YamlErrors& errors, const YamlNode* list,
                                           PodReading* reading) {
  std::vector<ContainerNeeds> containers;
  if (list == nullptr) return containers;
  for (const YamlNode& item : list->items) {
    containers.push_back(ReadContainer(errors, item, reading));
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

constexpr int64_t kAssumedCpuMillis = 100;
constexpr int64_t kAssumedMemoryBytes = int64_t{200} << 20;

// The container, with what scores assume where it requests none.
std::vector<ContainerNeeds> WithAssumed(std::vector<ContainerNeeds> containers) {
  for (ContainerNeeds& container : containers) {
    if (Find(container.requests, "cpu") == nullptr) {
      Amount(container.requests, "cpu") = kAssumedCpuMillis;
    }
    if (Find(container.requests, "memory") == nullptr) {
      Amount(container.requests, "memory") = kAssumedMemoryBytes;
    }
  }
  return containers;
}

void NoteAssumed(const std::vector<ContainerNeeds>& containers,
                 const std::vector<ContainerNeeds>& inits, const ResourceList& of_pod,
                 PodObject* body) {
  ResourceList assumed = SumRequests(WithAssumed(containers), WithAssumed(inits));
  ResourceList requested = SumRequests(containers, inits);
  const auto more = [&](const char* name) {
    // Requests of the pod leave nothing to assume.
    if (Find(of_pod, name) != nullptr) return int64_t{0};
    return Amount(assumed, name) - Amount(requested, name);
  };
  body->assumed_cpu = more("cpu");
  body->assumed_memory = more("memory");
}

// A resource that is neither one of Kubernetes' own nor named for a quota, or one that names a
// device class.
bool MayBeDevices(const std::string& resource) {
  if (resource.starts_with(kDeviceClassResource)) return true;
  return resource.find('/') != std::string::npos &&
         resource.find("kubernetes.io/") == std::string::npos && !resource.starts_with("requests.");
}

// What the container asks of the resource beyond what `reusable` has; nullopt: nothing.
std::optional<ExtendedRequest> RequestOf(const ContainerNeeds& container, size_t place,
                                         const std::string& resource,
                                         const std::vector<ExtendedRequest>& reusable) {
  const int64_t* const wanted = Find(container.requests, resource);
  if (wanted == nullptr || *wanted == 0) return std::nullopt;
  int64_t missing = *wanted;
  for (const ExtendedRequest& each : reusable) missing -= each.count;
  if (missing <= 0) return std::nullopt;
  const auto& all = container.requests;
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const auto& each) { return each.first == resource; });
  return ExtendedRequest{
      "container-" + std::to_string(place) + "-request-" + std::to_string(at - all.begin()),
      resource, missing};
}

// Containers that run together have requests of their own. Of the init containers that run one
// after the other, the one that asks for most beyond what containers behind it have has one.
void NoteExtended(const std::vector<ContainerNeeds>& containers,
                  const std::vector<ContainerNeeds>& inits, PodObject* body) {
  std::vector<ContainerNeeds> all = inits;
  all.insert(all.end(), containers.begin(), containers.end());
  const auto runs_alone = [&](size_t place) {
    return place < inits.size() && !all[place].is_sidecar;
  };
  for (const auto& [resource, amount] : body->pod.requests) {
    if (amount == 0 || !MayBeDevices(resource)) continue;
    std::optional<ExtendedRequest> most;
    std::vector<ExtendedRequest> behind;  // Of containers behind the one that is looked at.
    for (size_t place = all.size(); place-- > 0;) {
      auto request = RequestOf(all[place], place, resource,
                               runs_alone(place) ? behind : std::vector<ExtendedRequest>());
      if (!request) continue;
      if (!runs_alone(place)) {
        behind.push_back(std::move(*request));
      } else if (!most || most->count <= request->count) {
        most = std::move(request);
      }
    }
    auto& requests = body->extended_requests;
    requests.insert(requests.end(), behind.begin(), behind.end());
    if (most) requests.push_back(std::move(*most));
  }
  std::sort(body->extended_requests.begin(), body->extended_requests.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

void ReadRequests(YamlErrors& errors, YamlFields& fields, PodReading* reading) {
  PodObject* const body = &reading->body;
  const auto containers = ReadContainers(errors, fields.FindList("containers"), reading);
  if (containers.empty() && errors.ok()) {
    errors.Add(fields.node().at, "the pod has no containers, expected at least one");
  }
  const auto inits = ReadContainers(errors, fields.FindList("initContainers"), reading);
  body->pod.requests = SumRequests(containers, inits);
  ResourceList of_pod;
  body->has_resources = fields.Find("resources") != nullptr;
  if (const auto* resources = fields.Find("resources")) {  // Requests of the pod replace the sum.
    of_pod = ReadResources(errors, *resources);
    for (const auto& [name, amount] : of_pod) Amount(body->pod.requests, name) = amount;
  }
  NoteAssumed(containers, inits, of_pod, body);
  NoteExtended(containers, inits, body);
  if (const auto* overhead = fields.Find("overhead")) {
    Add(body->pod.requests, ReadResourceList(errors, *overhead));
  }
  for (const auto& [name, amount] : body->pod.requests) {
    if (name.starts_with(kDeviceClassResource)) {
      AddFeature(reading->features, Feature::kImplicitExtendedResource);
    }
  }
}

void ReadTolerations(YamlErrors& errors, const YamlNode* list, Pod* pod) {
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    pod->tolerations.push_back(ReadToleration(errors, item, "a toleration"));
  }
}

void ReadClaims(YamlErrors& errors, const YamlNode* list, PodObject* body) {
  body->claims = ReadPodClaims(errors, list);
  for (const PodClaim& claim : body->claims) {
    if (!claim.claim_name.empty()) {
      body->pod.claims.push_back(claim.claim_name);
    } else {
      body->pod.claim_templates.push_back(claim.name);
    }
  }
}

void ReadVolumes(YamlErrors& errors, const YamlNode* list, Pod* pod, FeatureUses& features) {
  PodVolumes volumes = ReadPodVolumes(errors, list, features);
  if (volumes == PodVolumes()) return;
  AddFeature(features, Feature::kPersistentVolumes);
  pod->volumes = std::make_shared<PodVolumes>(std::move(volumes));
}

// A number in the file has the last word, as where no admission plugin resolves priority classes.
void ReadPriority(YamlErrors& errors, YamlFields& fields, PodObject* body, FeatureUses& features) {
  int64_t priority = 0;
  std::string& name = body->priority_class;
  fields.Read("priorityClassName", &name);
  // Two classes are in every cluster.
  if (name == "system-cluster-critical") priority = 2'000'000'000;
  if (name == "system-node-critical") priority = 2'000'001'000;
  body->has_priority = priority != 0;
  body->has_priority |= fields.Read("priority", &priority);
  if (body->has_priority) name.clear();
  if (!name.empty()) AddFeature(features, Feature::kPriorityClasses, name);
  if (priority < INT32_MIN || priority > INT32_MAX) {
    errors.Add(fields.node().at, "priority is out of range, expected 32 bits");
  }
  body->pod.priority = static_cast<int32_t>(priority);
  std::string policy;
  if (!fields.Read("preemptionPolicy", &policy)) return;
  body->never_preempts = IsNever(errors, fields.node().at, policy);
}

void ReadGrace(YamlErrors& errors, YamlFields& fields, PodObject* body) {
  if (!fields.Read("terminationGracePeriodSeconds", &body->grace_seconds)) return;
  if (body->grace_seconds >= 0) return;
  errors.Add(fields.node().at, "terminationGracePeriodSeconds is negative, expected 0 or more");
}

void ReadPlacement(YamlFields& fields, PodObject* body, FeatureUses& features) {
  Pod* const pod = &body->pod;
  if (fields.Read("nodeName", &pod->node_name) && !pod->node_name.empty()) {
    AddFeature(features, Feature::kPreboundPods);
  }
  if (fields.Read("schedulerName", &body->scheduler_name) &&
      body->scheduler_name != kDefaultScheduler) {
    AddFeature(features, Feature::kOtherScheduler, body->scheduler_name);
  }
}

void ReadGroup(YamlErrors& errors, YamlFields& fields, Pod* pod, FeatureUses& features) {
  const YamlNode* const group = fields.Find("schedulingGroup");
  if (group == nullptr) return;
  AddFeature(features, Feature::kPodGroups);
  YamlFields parts(errors, *group, "the scheduling group");
  parts.ReadRequired("podGroupName", &pod->group_name);
}

// The features that the node must declare for the pod, as the scheduler infers them.
void NoteNodeFeatures(YamlFields& fields, PodReading* reading) {
  bool uses_host_users = true;
  fields.Read("hostUsers", &uses_host_users);
  FeatureNames& needed = reading->rules.node_features;
  if (reading->restarts_all) needed.emplace_back("RestartAllContainersOnContainerExits");
  if (reading->uses_node_network && !uses_host_users) {
    needed.emplace_back("UserNamespacesHostNetworkSupport");
  }
  if (reading->binds_with_options) needed.emplace_back("VolumeBindMountOptions");
  if (!needed.empty()) AddFeature(reading->features, Feature::kNodeFeatures);
}

}  // namespace

std::vector<PodClaim> ReadPodClaims(YamlErrors& errors, const YamlNode* list) {
  std::vector<PodClaim> claims;
  if (list == nullptr) return claims;
  for (const YamlNode& item : list->items) {
    PodClaim claim;
    YamlFields fields(errors, item, "a resource claim");
    fields.ReadRequired("name", &claim.name);
    fields.Read("resourceClaimName", &claim.claim_name);
    fields.Read("resourceClaimTemplateName", &claim.template_name);
    if (claim.claim_name.empty() == claim.template_name.empty()) {
      errors.Add(item.at,
                 "expected either resourceClaimName or resourceClaimTemplateName in a claim");
    }
    claims.push_back(std::move(claim));
  }
  return claims;
}

bool IsNever(YamlErrors& errors, TextPosition at, const std::string& policy) {
  if (policy == "Never") return true;
  if (policy != "PreemptLowerPriority") {
    errors.Add(at,
               "preemptionPolicy is \"" + policy + "\", expected PreemptLowerPriority or Never");
  }
  return false;
}

PodObject ReadPodBody(YamlErrors& errors, const YamlNode* spec, FeatureUses& features) {
  PodReading reading{.body = {}, .rules = {}, .features = features};
  if (spec == nullptr) return reading.body;
  PodObject& body = reading.body;
  Pod& pod = body.pod;
  YamlFields fields(errors, *spec, "the pod's spec");
  fields.Read("hostNetwork", &reading.uses_node_network);
  ReadRequests(errors, fields, &reading);
  ReadTolerations(errors, fields.FindList("tolerations"), &pod);
  ReadClaims(errors, fields.FindList("resourceClaims"), &body);
  ReadAffinity(errors, fields.Find("affinity"), &reading.rules, features);
  ReadSpread(errors, fields.FindList("topologySpreadConstraints"), &reading.rules, features);
  NoteNodeFeatures(fields, &reading);
  if (reading.rules != PodRules()) pod.rules = std::make_shared<PodRules>(reading.rules);
  ReadVolumes(errors, fields.FindList("volumes"), &pod, features);
  ReadPriority(errors, fields, &body, features);
  ReadGrace(errors, fields, &body);
  ReadPlacement(fields, &body, features);
  ReadGroup(errors, fields, &pod, features);
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
                 "activeDeadlineSeconds",
                 "dnsPolicy",
                 "serviceAccountName",
                 "serviceAccount",
                 "automountServiceAccountToken",
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
                 "hostnameOverride"});
  return std::move(reading.body);
}

}  // namespace schedq
