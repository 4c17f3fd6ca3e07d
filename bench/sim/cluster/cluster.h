// The simulated cluster: the API server, its objects, and the informers that deliver their changes.
//
// Purpose: the API server of scheduler and workload. A call takes effect at once, at the clock's
// now; its caller lets the call's latency pass (cost model). Every change reaches every watcher
// after the informer delay, in the order of the changes; where an informer lags (faults.h), in the
// order of its own kind's.
// The API server itself makes names from generateName and sets the SchedulingGated condition of a
// gated pod. Its deletions wait for finalizers, and those of bound pods for a kubelet. It refuses
// to bind a pod that is bound or being deleted, and (with its gate) clears the nominated node of a
// pod that is bound.
// An update replaces a part of an object as a PUT does (cluster_updates.cc); a pod's requests
// change at once, because no kubelet has to agree.
// Not modelled: kubelets, conflicts of concurrent writers, and kinds that scheduling does not read
// (these can be created and deleted, but are not delivered).
// Threads: one, the one that advances the clock.
// Invariants:
//  1. Watchers see each object's versions in order, each exactly once.
//  2. A pod's number belongs to its uid, and is never used again.
// Memory: the live objects, and the deliveries under way.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/device_objects.h"
#include "bench/format/workload/device_features.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/faults.h"
#include "bench/sim/cluster/pod_slots.h"
#include "bench/sim/cluster/pod_table.h"
#include "bench/sim/cluster/processors.h"
#include "bench/sim/cluster/storage.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/device_inventory.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {

struct ClusterOptions {
  Clock* clock = nullptr;
  Duration informer_delay{};
  bool clears_nomination_at_bind = true;
  // Where there is no delay: watchers are told within the call, and not by a timer of their own.
  bool delivers_at_once = false;
  // What pods with resources of their own need of nodes, in place of what is real. Null: what is
  // real.
  std::shared_ptr<const FeatureNames> needed_features = nullptr;
  DeviceFeatures devices = {};
  Random fault_random{0};  // Decides which calls fail, where a share of them does.
  ProcessorOptions processors = {};
};

// Names an object that was created.
struct ObjectHandle {
  std::string kind;
  std::string namespace_name;
  std::string name;
};

// The names of an object that is created or updated in that namespace.
ObjectHandle HandleOf(const ApiObject& object, const std::string& namespace_name);

// What a call replaces: all of an object but its status, its status, or the requests of a pod. The
// labels come with the first two.
enum class UpdatePart : uint8_t { kObject, kStatus, kResize };

class Cluster {
 public:
  using Watcher = std::function<void(const ClusterChange&)>;

  explicit Cluster(const ClusterOptions& options)
      : options_(options),
        processors_(options.clock, options.processors),
        faults_(options.clock, options.fault_random),
        devices_(options.devices) {}
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Watchers are called in the order of these calls. All are added before the first change.
  void Watch(Watcher watcher) { watchers_.push_back(std::move(watcher)); }

  // Creates any object. Returns an error where the name is taken.
  Result<ObjectHandle> Create(const ApiObjectRef& object, const std::string& namespace_name,
                              const Labels& extra_labels = {});
  // Replaces that part of the object of this kind and name by what `object` says. An error names
  // what the API server would not take.
  Status Update(const ApiObject& object, const std::string& namespace_name, UpdatePart part);
  // Returns false where there is no such object.
  bool Delete(const ObjectHandle& object);

  // Nodes. `change` returns false for no change.
  void UpdateNode(const std::string& name, const std::function<bool(ClusterNode*)>& change);
  const std::map<uint64_t, ClusterNodeRef>& nodes() const { return nodes_; }
  ClusterNodeRef FindNode(const std::string& name) const;

  // Pods, by number.
  // With a grace period of 0.
  bool DeletePod(uint64_t number);
  // With the pod's own grace period: a bound pod that has one is from then on being deleted, and
  // stays, because no kubelet ends it.
  bool DeletePodGracefully(uint64_t number);
  // Returns false where there is no such pod, or `change` returns false for no change.
  bool UpdatePod(uint64_t number, const std::function<bool(ClusterPod*)>& change);
  Status BindPod(uint64_t number, const std::string& node);
  ClusterPodRef FindPod(uint64_t number) const;
  const PodTable& pods() const { return pods_; }
  // Whether a pod or a node was ever deleted, or a node came after a pod.
  bool WasRestless() const { return was_restless_; }
  // The labels of a namespace, its name among them.
  Labels NamespaceLabels(const std::string& name) const;

  // What goes wrong on request. Each call of the scheduler asks first whether it is refused;
  // clients and controllers go on.
  Faults& faults() { return faults_; }
  const Faults& faults() const { return faults_; }

  // Claims, by "namespace/name".
  Result<ObjectHandle> CreateClaim(std::shared_ptr<ClusterClaim> claim);
  bool UpdateClaim(const std::string& name, const std::function<void(ClusterClaim*)>& change);
  // The claim gives up its devices, unless another pod than this one uses it by now.
  void DeallocateIdleClaim(const std::string& name, uint64_t pod);
  // The pod does not use the claims any more.
  void DropReservations(const std::vector<std::string>& claims, uint64_t pod);
  ClusterClaimRef FindClaim(const std::string& name) const;
  const std::map<std::string, ClusterClaimRef>& claims() const { return claims_; }
  // The template of this "namespace/name"; null: there is none.
  const ResourceClaimTemplateObject* FindClaimTemplate(const std::string& name) const;
  // By name.
  const std::map<std::string, std::shared_ptr<const ClusterSlice>>& slices() const {
    return slices_;
  }
  const std::map<std::string, std::shared_ptr<const ClusterDeviceClass>>& classes() const {
    return classes_;
  }
  const std::map<std::string, std::shared_ptr<const ClusterTaintRule>>& taint_rules() const {
    return taint_rules_;
  }
  // What went wrong with claims when it happened, one line a fault: a device that was allocated
  // while another claim had it. Gone again at the end, it would still have been given twice.
  const std::vector<std::string>& claim_faults() const { return claim_faults_; }
  // The devices for allocations that no scheduler makes.
  DeviceInventory& devices() { return devices_; }

  // Groups.
  ClusterGroupRef FindGroup(const GroupKey& key) const;
  const std::map<GroupKey, ClusterGroupRef>& groups() const { return groups_; }
  // Returns false where there is no such group, or it has that condition already.
  bool SetGroupCondition(const GroupKey& key, const PodCondition& condition);
  bool SetGroupClaims(const GroupKey& key, const std::vector<GeneratedClaim>& claims);
  // Whether a member of the group, or a child of the composite, was ever deleted.
  bool HasLostMember(const GroupKey& key) const { return lost_members_.count(key) != 0; }

  // Disruption budgets, by "namespace/name".
  const std::map<std::string, ClusterBudgetRef>& budgets() const { return budgets_; }
  // Returns false where there is no such budget, or it has that status already.
  bool SetBudgetStatus(const std::string& name, const BudgetStatus& status);

  // Volumes, claims for them, storage classes and CSINodes, beyond Create and Delete.
  Storage& storage() { return storage_; }
  const Storage& storage() const { return storage_; }

  // On which calls are worked on. Each caller asks it at the begin of a call.
  Processors& processors() { return processors_; }

  // Of all kinds.
  uint64_t object_count() const { return others_.size() + pods_.size(); }

  // A name for a generateName, which no object had before.
  std::string GenerateName(const std::string& prefix);

  Clock& clock() const { return *options_.clock; }

 private:
  Status UpdatePodPart(const ApiObject& object, const std::string& name, UpdatePart part);
  void UpdateNodePart(const ApiObject& object, UpdatePart part);
  void UpdateNamespace(const ApiObject& object);
  void CreateNode(const ApiObject& object, ObjectHandle* handle, const Labels& extra_labels);
  void CreatePod(const ApiObjectRef& object, ObjectHandle* handle, const Labels& extra_labels);
  // What the pod's priority class says; nullopt: there is no class of its name.
  std::optional<PriorityClassObject> PriorityOf(const PodObject& pod) const;
  void NeedFeatures(ClusterPod* pod);
  void CreateNamespace(const ApiObject& object, const ObjectHandle& handle);
  void CreateDevices(const ApiObject& object, const ObjectHandle& handle);
  void CreateClass(const ApiObject& object, const ObjectHandle& handle);
  void CreateGroup(const ApiObject& object, const ObjectHandle& handle);
  void DeleteGroup(const ObjectHandle& handle);
  void CreateTaintRule(const ApiObject& object, const ObjectHandle& handle);
  void CreateBudget(const ApiObject& object, const ObjectHandle& handle);
  void DeleteDeviceObject(const ObjectHandle& object);
  void TakeDeviceRequests(ClusterPod* pod) const;
  void NoteGroupClaims(ClusterPod* pod) const;
  void RemovePod(const ClusterPodRef& pod);
  void TakeDevices(const std::string& claim, const DeviceAllocation& allocation);

  void EmitPod(Action action, const ClusterPodRef& before, const ClusterPodRef& after);
  void Emit(Resource resource, Action action, ObjectRef before, ObjectRef after);
  void EmitNamespace(Action action, ObjectRef before, ObjectRef after);
  // Slices whose devices it taints are as if they had changed.
  void EmitTaintRule(Action action, ObjectRef before, ObjectRef after);
  void EmitBudget(Action action, ObjectRef before, ObjectRef after);
  void Deliver(ClusterChange change);
  // Tells of what waits, in order; a watcher may cause more.
  void DeliverWaiting();

  const ClusterOptions options_;
  Processors processors_;
  std::vector<Watcher> watchers_;

  Faults faults_;
  uint64_t last_pod_ = 0;
  const std::shared_ptr<PodSlots> slots_ = std::make_shared<PodSlots>();
  uint64_t last_node_ = 0;
  uint64_t last_generated_ = 0;
  uint64_t last_claim_version_ = 0;
  bool was_restless_ = false;
  PodTable pods_;
  std::unordered_map<std::string, uint64_t> pod_numbers_;  // By "namespace/name".
  std::map<uint64_t, ClusterNodeRef> nodes_;
  std::unordered_map<std::string, uint64_t> node_numbers_;
  std::map<std::string, ClusterClaimRef> claims_;
  std::map<std::string, ApiObjectRef> claim_templates_;
  std::map<std::string, std::shared_ptr<const ClusterSlice>> slices_;
  std::map<std::string, std::shared_ptr<const ClusterDeviceClass>> classes_;
  std::map<std::string, std::shared_ptr<const ClusterTaintRule>> taint_rules_;
  std::map<std::string, ObjectRef> namespaces_;
  std::map<GroupKey, ClusterGroupRef> groups_;
  std::set<GroupKey> lost_members_;
  std::map<std::string, PriorityClassObject> priority_classes_;
  std::map<std::string, ClusterBudgetRef> budgets_;
  // The rules of the last pod that came to need features, before and after.
  PodRulesRef rules_before_;
  PodRulesRef rules_after_;
  Storage storage_{[this](Resource resource, Action action, ObjectRef before, ObjectRef after) {
                     Emit(resource, action, std::move(before), std::move(after));
                   },
                   [this] { return last_pod_; }};
  // All objects but pods, by "kind namespace/name".
  std::unordered_map<std::string, ApiObjectRef> others_;
  std::deque<ClusterChange> to_deliver_;  // Where delivers_at_once is set.
  bool is_delivering_ = false;
  DeviceInventory devices_;
  std::vector<std::string> claim_faults_;
};

}  // namespace schedq
