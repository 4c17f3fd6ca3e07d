// The simulated scheduler's knowledge of the cluster, and its decisions that the cluster has not
// confirmed yet.
//
// Purpose: nodes, their pods, claims, devices and volumes, as the informers delivered them, with
// the pods that are assumed on a node and the devices and volumes that are promised to their claims
// while a binding is under way. Scheduling threads decide by copies of it (placer.h).
// Threads: all functions from any thread; two changes of one object must come in their order. What
// a scheduling thread calls for a pod without claims and volumes takes one lock for a moment, the
// pod book's.
// Invariants:
//  1. A pod counts on at most one node.
//  2. An assumed pod counts on its node until the informers deliver its node or its deletion, or
//     until Forget.
// Memory: the ledger's and the books', and a word for each pod that there was at one time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/workload/device_features.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/budget_book.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/groups/group_book.h"
#include "bench/sim/placing/node_ledger.h"
#include "bench/sim/placing/nominations.h"
#include "bench/sim/placing/pods_by_node.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "bench/sim/placing/volumes/volume_book.h"
#include "engine/base/segmented_array.h"
#include "engine/gates.h"

namespace schedq {

// Whether groups are placed by topology. A tree of groups is in any case.
bool PlacesByTopology(const Gates& gates);

class SchedulerCache {
 public:
  // Of the gates only those of groups count.
  explicit SchedulerCache(const PlacingPluginSource& plugins = BuiltinPlacingPlugins,
                          const Gates& gates = Gates(), const DeviceFeatures& devices = {},
                          const SchedulerSettings& settings = SchedulerSettings());

  // Applies a change of any object except an unassigned pod.
  void Apply(const ClusterChange& change);

  // Counts the pod on its node and lets the plugins reserve. False: another thread was ahead, and
  // nothing has changed.
  bool Assume(const ClusterPodRef& assumed, Decision* decision);
  bool IsAssumed(uint64_t pod_slot) const;
  // A pod that is being deleted stays assumed until its binding has failed, but counts no more.
  // Returns its node, empty where that is gone. nullopt: it is not assumed.
  std::optional<std::string> LetGoOfAssumed(const ClusterPod& pod);
  // Whether LetGoOfAssumed, or the pod's deletion, has taken an assumed pod from its node.
  bool IsGone(const ClusterPod& pod) const;
  // Ends what Assume began for a pod that will not be bound, after that many steps of PreBind. The
  // plugins give back in the reverse order.
  // Where the pod was assumed anew meanwhile, its new place stays.
  void Forget(const ClusterPod& pod, const Decision& decision, size_t steps);

  // A cache of the same plugins with the nodes and all other objects of this one, and without its
  // pods and what was promised to them: to ask what would be. Only where groups are known.
  std::unique_ptr<SchedulerCache> CopyWithoutPods() const;
  // The pods that count: those that the informers delivered with a node, and those that are
  // assumed, each with that node.
  std::vector<ClusterPodRef> PodsOnNodes() const { return pods_by_node_.All(); }
  std::vector<ClusterPodRef> AssumedPods() const;

  bool knows_groups() const { return gates_.GenericWorkload(); }
  bool places_by_topology() const { return places_by_topology_; }
  GroupBook& groups() { return groups_; }
  const GroupBook& groups() const { return groups_; }
  const NodeLedger& nodes() const { return nodes_; }
  const ClaimBook& claims() const { return claims_; }
  uint64_t BeginGroupCycle() { return claims_.BeginGroupCycle(); }
  const PodsByNode& pods_by_node() const { return pods_by_node_; }
  const BudgetBook& budgets() const { return budgets_; }
  Nominations& nominations() { return nominations_; }
  const Nominations& nominations() const { return nominations_; }
  // Of all scheduling threads: one a profile. All have the same plugins by the same numbers, and
  // ask them at different points.
  const std::vector<std::unique_ptr<const Framework>>& frameworks() const { return frameworks_; }
  const Framework& framework() const { return *frameworks_.front(); }
  const Framework& framework_of(const ClusterPod& pod) const {
    return *frameworks_[ProfileOf(pod).value_or(0)];
  }
  // By the name of the scheduler that the pod asks for; nullopt: another scheduler's.
  std::optional<size_t> ProfileOf(const ClusterPod& pod) const;

 private:
  // Where a pod counts; scheduler_cache.cc says what its bits mean.
  using PodWord = std::atomic<uint64_t>;
  // The pods of the first segment; each further one doubles them.
  static constexpr uint32_t kFirstPodsBits = 12;

  // Keeps the change for a copy.
  void Keep(const ClusterChange& change);
  std::vector<std::unique_ptr<const Framework>> MakeFrameworks();
  void ApplyPod(const ClusterChange& change);
  void ApplyNode(const ClusterChange& change);
  void AdoptRequests(const ClusterChange& change, uint32_t slot);
  PodWord& WordOf(uint64_t pod_slot);
  // In the books: where the pod counts, and what it mounts there.
  void Put(const ClusterPodRef& pod, uint32_t slot, uint64_t place);
  bool PutWhereAllowed(const ClusterPodRef& pod, uint32_t slot, uint64_t place);
  void Drop(const ClusterPod& pod, uint64_t place);
  // Returns the pod's word as it was.
  uint64_t TakeFromItsNode(const ClusterPod& pod);
  // The pod of that word is not assumed any more.
  void ForgetAssumed(const ClusterPod& pod, uint64_t word);
  // Gives back what the pod has on the node of its word.
  void GiveBack(const ClusterPod& pod, uint64_t word);

  const PlacingPluginSource plugin_source_;
  const Gates gates_;
  const DeviceFeatures device_features_;
  const SchedulerSettings settings_;
  const bool places_by_topology_;
  NodeLedger nodes_;
  ClaimBook claims_;
  GroupBook groups_;
  PodsByNode pods_by_node_;
  PodsByNode assumed_by_node_;  // Only where groups are known.
  PodBook pod_book_;
  VolumeBook volumes_;
  BudgetBook budgets_;
  // The newest versions of all objects but pods and nodes, each as if it came now; only where
  // groups are known.
  std::map<std::string, ClusterChange> others_;
  mutable std::mutex others_mutex_;  // Guards them.
  Nominations nominations_;
  const std::vector<std::unique_ptr<const Framework>> frameworks_;
  const bool keeps_pods_;  // A plugin asks for the pods of nodes.
  // Written by the thread that assumes or forgets the pod, and by the one that delivers its
  // changes.
  SegmentedArray<PodWord> pods_{kFirstPodsBits};  // By ClusterPod::slot.
};

}  // namespace schedq
