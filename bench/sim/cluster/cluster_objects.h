// Versions of API objects as the simulated cluster stores and delivers them.
//
// Purpose: the engine's own types (Pod, ObjectView) with the further fields that the simulation
// needs, so that the queue returns them too. Every Pod that the simulation gives to a queue is a
// ClusterPod; AsClusterPod relies on it.
// Threads: immutable once stored, so any thread may read them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/device_objects.h"
#include "bench/sim/cluster/pod_slots.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/device_catalog.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {

struct ClusterPod final : Pod {
  ApiObjectRef object;  // The object that it was made from.
  uint64_t number = 0;  // In order of creation, from 1; the uid has it too.
  Instant created{};
  bool deleting = false;        // The deletion waits for finalizers or for a kubelet.
  bool awaits_kubelet = false;  // Its deletion has a grace period, which a kubelet would end.
  bool relabelled = false;      // Its labels are not those that it was created with.
  bool has_grown = false;       // It requests more than when it was placed.
  bool never_preempts = false;  // Its preemptionPolicy, or that of its priority class, is Never.
  std::vector<std::string> finalizers;
  // What it asks of resources that device classes stand for. These are not among its requests.
  std::vector<ExtendedRequest> device_requests;
  // Entries of its spec whose claims are its group's.
  std::vector<std::string> group_claims;
  std::string extended_claim;  // The claim that the scheduler has made for them; empty: none.
  PodSlotRef slot_ref;         // Null in a pod that no cluster has made.

  // Where books of pods keep what they know of it (pod_slots.h).
  uint64_t slot() const { return slot_ref != nullptr ? slot_ref->number() : number; }
  const PodObject& spec() const { return std::get<PodObject>(object->body); }
  // The scheduler that it asks for.
  const std::string& scheduler_name() const {
    static const std::string kDefault(kDefaultScheduler);
    return object != nullptr ? spec().scheduler_name : kDefault;
  }
};
using ClusterPodRef = std::shared_ptr<const ClusterPod>;

inline const ClusterPod& AsClusterPod(const Pod& pod) {
  return static_cast<const ClusterPod&>(pod);
}
inline ClusterPodRef AsClusterPod(const PodRef& pod) {
  return std::static_pointer_cast<const ClusterPod>(pod);
}

struct ClusterNode final : ObjectView {
  uint64_t number = 0;  // In order of creation, from 1.
  std::vector<NodeImage> images;
  bool relabelled = false;  // Its labels or taints are not those that it was created with.
  bool has_shrunk = false;  // It has less for pods than at one time before.
};
using ClusterNodeRef = std::shared_ptr<const ClusterNode>;

struct ClusterClaim final : ObjectView {
  ClaimSpec spec;
  uint64_t owner_pod = 0;  // The number of the pod that it was generated for; 0: none.
  std::string
      owner_pod_name;  // The name in its owner reference, which a client may set; empty: none.
  bool is_extended = false;        // The scheduler made it for its owner's device requests.
  bool has_finalizer = false;      // The scheduler's, before it allocates.
  bool deleting = false;           // The deletion waits for the finalizer.
  DeviceAllocationRef allocation;  // Null: it has none.
  // When a scheduler allocated it; 0: it has no allocation, or a client's.
  Instant allocated_at{};
  std::vector<DeviceStatus> device_statuses;  // What drivers say of its devices.
  std::vector<uint64_t> reserved_for;         // Numbers of pods.
  // The group that it was generated for, and those that it is reserved for: "namespace/name".
  std::string owner_group;
  std::vector<std::string> reserved_groups;
  bool was_cleared = false;  // A client took away what its status had.
};
using ClusterClaimRef = std::shared_ptr<const ClusterClaim>;

struct ClusterDeviceClass final : ObjectView {
  DeviceClassObject device_class;
};

struct ClusterSlice final : ObjectView {
  ResourceSliceRef slice;
};

// The queue hears only of the slices whose devices it taints.
struct ClusterTaintRule final : ObjectView {
  DeviceTaintRuleObject rule;
};

// A namespace. The queue hears of none, so none has a resource.
using ClusterNamespace = ObjectView;

// A PodGroup or a CompositePodGroup, as the resource says.
struct ClusterGroup final : ObjectView {
  PodGroupRef group;  // As the queue knows it.
  PodGroupObject spec;
  // PodGroupInitiallyScheduled. Without a type: the scheduler has set none yet.
  PodCondition condition;
  std::vector<GeneratedClaim> generated_claims;  // From status.
};
using ClusterGroupRef = std::shared_ptr<const ClusterGroup>;

// What its controller says of a disruption budget.
struct BudgetStatus {
  int64_t expected = 0;         // Pods that there are to be.
  int64_t healthy = 0;          // Of those that it selects.
  int64_t desired_healthy = 0;  // As many must stay so.
  int64_t allowed = 0;          // As many may go now.
  bool operator==(const BudgetStatus&) const = default;
};

// A PodDisruptionBudget. The queue hears of none.
struct ClusterBudget final : ObjectView {
  DisruptionBudgetObject spec;
  BudgetStatus status;
};
using ClusterBudgetRef = std::shared_ptr<const ClusterBudget>;

// A change that an informer delivers. Add has no old version, and Delete no new one. The versions
// of a pod are in `pod_before` and `pod_after`, those of all other objects in `objects`.
struct ClusterChange {
  Resource resource = Resource::kPod;
  Action action = Action::kAdd;  // kAdd, kUpdate or kDelete.
  bool is_namespace = false;     // `objects` are of a namespace, whatever `resource` says.
  bool is_taint_rule = false;    // They are of a rule that taints devices.
  bool is_budget = false;        // They are of a disruption budget.
  ObjectChange objects;
  ClusterPodRef pod_before;
  ClusterPodRef pod_after;
};

// Whether only the scheduler's cache hears of the change, and the queue does not.
inline bool IsForCacheOnly(const ClusterChange& change) {
  return change.is_namespace || change.is_taint_rule || change.is_budget;
}
// Whether the change is one of a group.
inline bool IsOfGroup(const ClusterChange& change) {
  return change.resource == Resource::kPodGroup || change.resource == Resource::kCompositePodGroup;
}
// The versions of a change of a group; null: there is none.
inline ClusterGroupRef GroupBefore(const ClusterChange& change) {
  return std::static_pointer_cast<const ClusterGroup>(change.objects.before);
}
inline ClusterGroupRef GroupAfter(const ClusterChange& change) {
  return std::static_pointer_cast<const ClusterGroup>(change.objects.after);
}
// The key of the group that the pod names as its own.
inline GroupKey GroupKeyOf(const Pod& pod) {
  return {GroupKind::kPodGroup, pod.namespace_name, pod.group_name};
}

// A tree of groups is at most so high; what is above is not followed.
inline constexpr int kGroupDepthMax = 4;

inline constexpr std::string_view kPodScheduledCondition = "PodScheduled";
// The pod's condition of that type, or null.
const PodCondition* FindCondition(const Pod& pod, std::string_view type);
// Adds or replaces the condition of its type. Returns false where the pod had it already.
bool SetCondition(Pod* pod, const PodCondition& condition);

// Some amount of `after` is larger than in `before`, where an amount that is missing is 0.
bool AnyLarger(const ResourceList& after, const ResourceList& before);

// Every label of `selector` is among `labels`, with its value.
bool MatchesSelector(const Labels& labels, const Labels& selector);

}  // namespace schedq
