// API objects as templates describe them, before the cluster gives them names, uids and status.
//
// Purpose: the objects that the simulated cluster creates, with the fields that the simulation
// reads. `features` notes the fields that it does not model, so that none is ignored silently.
// Threads: immutable after reading, so any thread may read them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/format/workload/features.h"
#include "engine/label_selector.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

struct ObjectMetadata {
  std::string name;
  std::string generate_name;  // Used when the name is empty.
  std::string namespace_name;
  Labels labels;
  Labels annotations;
  std::vector<std::string> finalizers;
  std::vector<std::string> owners;  // "Kind/name" of each owner reference.
};

// An entry of the pod's spec.resourceClaims.
struct PodClaim {
  std::string name;
  // Exactly one of these two is set.
  std::string claim_name;
  std::string template_name;
  bool operator==(const PodClaim&) const = default;
};

// What a pod asks of a resource that a device class may stand for: a request of the claim that the
// scheduler makes for the pod then.
struct ExtendedRequest {
  std::string name;  // "container-0-request-1"
  std::string resource;
  int64_t count = 0;
  bool operator==(const ExtendedRequest&) const = default;
};

// The scheduler of pods that name none.
inline constexpr const char* kDefaultScheduler = "default-scheduler";

struct PodObject {
  // Everything but names, uid, status and generated claims.
  Pod pod;
  std::vector<PodClaim> claims;
  std::vector<ExtendedRequest> extended_requests;  // By name.
  // What scores count beside the requests, for containers that request no cpu or no memory: as if
  // each asked for 100m and 200Mi.
  int64_t assumed_cpu = 0;
  int64_t assumed_memory = 0;
  std::vector<std::string> images;  // Of all containers, with their tags.
  bool has_resources = false;       // spec.resources is there: requests of the pod as a whole.
  std::string scheduler_name = kDefaultScheduler;
  bool has_priority = false;           // The file says a number.
  std::string priority_class;          // priorityClassName, where the file says no number.
  std::optional<bool> never_preempts;  // preemptionPolicy; nullopt: it does not say.
  int64_t grace_seconds = 30;          // terminationGracePeriodSeconds.
};

// An image that a node holds.
struct NodeImage {
  std::vector<std::string> names;  // With their tags.
  int64_t bytes = 0;
  bool operator==(const NodeImage&) const = default;
};

struct NodeObject {
  ResourceList capacity;
  ResourceList allocatable;  // Equals the capacity where the file does not set it.
  std::vector<Taint> taints;
  bool unschedulable = false;
  bool ready = true;
  std::vector<NodeImage> images;
  std::shared_ptr<const FeatureNames> declared_features;  // Null: it declares none.
};

// A PodGroup or a CompositePodGroup; the kind of the object says which.
struct PodGroupObject {
  int32_t priority = 0;
  int64_t min_count = 0;  // Of a gang: pods, of a composite groups. 0: not a gang.
  std::string parent;     // A composite's name; empty: none.
  // All members go to nodes that have one value of this label; empty: to any.
  std::string topology_key;
  bool is_disrupted_as_one = false;  // disruptionMode is all.
  // Claims that its members use together. A member's entry of the same content is the group's.
  std::vector<PodClaim> claims;
};

// What pods get that name it as their priority class.
struct PriorityClassObject {
  int32_t value = 0;
  bool is_default = false;  // For pods that name none.
  bool never_preempts = false;
};

// How many pods a PodDisruptionBudget wants available, or lets be unavailable.
struct BudgetBound {
  int64_t value = 0;
  bool is_percent = false;  // Of the pods that their controllers are to have.
  bool operator==(const BudgetBound&) const = default;
};

struct DisruptionBudgetObject {
  std::optional<LabelSelector> selector;  // nullopt: it selects no pod.
  // At most one of these two is set.
  std::optional<BudgetBound> min_available;
  std::optional<BudgetBound> max_unavailable;
};

struct NamespaceObject {};
struct OtherObject {
};  // An object of a kind that scheduling does not read or that is not modelled.

struct ApiObject {
  std::string kind;
  std::string api_version;
  ObjectMetadata metadata;
  std::variant<OtherObject, PodObject, NodeObject, ResourceClaimObject, ResourceClaimTemplateObject,
               DeviceClassObject, ResourceSliceObject, DeviceTaintRuleObject, NamespaceObject,
               PodGroupObject, PriorityClassObject, DisruptionBudgetObject, PersistentVolumeObject,
               PersistentVolumeClaimObject, StorageClassObject, CsiNodeObject>
      body;
  FeatureUses features;
};
using ApiObjectRef = std::shared_ptr<const ApiObject>;

// Whether objects of the kind belong to a namespace; nullopt for an unknown kind.
std::optional<bool> IsNamespacedKind(std::string_view kind);
// Whether objects of the kind have a status that clients may write.
bool HasStatus(std::string_view kind);

}  // namespace schedq
