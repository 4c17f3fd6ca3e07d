// The scheduler's knowledge of volumes: claims and what they are bound to, which volumes are
// attached where, what pods mount, and what is promised to pods that are on their way to a node.
//
// Purpose: what the plugins of volumes ask. An attempt looks the pod's claims up once (WantedBy);
// what it asks of nodes then are comparisons of columns, or lookups by node.
// Threads: all functions from any thread, under one lock. Only pods with volumes meet it.
// Invariants:
//  1. A pod counts on at most one node.
//  2. PutWhereAllowed counts a pod only where limits, disks and claims for one pod allow it then.
//  3. A volume is promised to at most one claim, and a claim has the promise of at most one: of a
//     volume, or of one that is made for a node.
// Memory: a record a volume, claim, and pod with volumes that is on a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/volumes/attachments.h"
#include "bench/sim/placing/volumes/available_volumes.h"
#include "engine/pod_volumes.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {

// What a pod's volumes ask of nodes, as the book had it.
struct WantedVolumes {
  // A claim that gets its volume when the pod has a node.
  struct Waiting {
    ClusterVolumeClaimRef claim;
    std::string name;           // "namespace/name"
    std::string selected_node;  // A volume is being made there; empty: nothing is decided yet.
  };

  bool lacks_claim = false;               // One of its claims does not exist.
  bool shares_disks = false;              // It names disks that pods may conflict about.
  std::vector<std::string> for_one_pod;   // Its claims that one pod at a time may mount.
  bool is_in_use = false;                 // A pod on a node mounts one of those.
  std::vector<AttachedVolume> attached;   // Those that nodes count.
  bool is_unbound = false;                // A claim should be bound, and is not.
  bool lacks_volume = false;              // A volume to which a claim is bound does not exist.
  std::vector<ClusterVolumeRef> reached;  // Bound volumes that not every node reaches.
  std::vector<Waiting> waiting;           // The smallest first.
  bool has_unknown_zone = false;
  std::vector<VolumeZone> zones;
};
using WantedVolumesRef = std::shared_ptr<const WantedVolumes>;

class VolumeBook {
 public:
  VolumeBook() = default;
  VolumeBook(const VolumeBook&) = delete;
  VolumeBook& operator=(const VolumeBook&) = delete;

  // --- What the cluster says.

  // A volume, claim, storage class or CSINode; others change nothing.
  void Apply(const ClusterChange& change);
  // A node that is new or changed, by its slot of the ledger; null: it is gone.
  void SetNode(uint32_t slot, const ClusterNodeRef& node);

  // --- Where pods with volumes count. `place` tells a pod's places apart; a later one replaces an
  // earlier one.

  void Put(const ClusterPodRef& pod, uint32_t slot, uint64_t place);
  // False: what other threads have put meanwhile does not allow it, and nothing has changed.
  bool PutWhereAllowed(const ClusterPodRef& pod, uint32_t slot, uint64_t place);
  // Ends that place, unless a later one has replaced it.
  void Drop(uint64_t pod_slot, uint64_t place);

  // --- What plugins ask.

  // Null: the pod has no volumes.
  WantedVolumesRef WantedBy(const ClusterPod& pod);
  // Those of `candidates`, a mask of the block's nodes, that take the volumes that it counts; on
  // which no pod has one of its disks; and from which all volumes are reached, or can be.
  uint64_t WithRoom(const WantedVolumes& wanted, size_t block, uint64_t candidates);
  uint64_t WithFreeDisks(const ClusterPod& pod, size_t block, uint64_t candidates);
  uint64_t WithVolumes(const WantedVolumes& wanted, const NodeColumns& nodes, size_t block,
                       uint64_t candidates);
  // Whether the node would pass if it were changed so.
  bool WouldHaveRoom(const WantedVolumes& wanted, uint32_t slot, const NodeChange& change);
  // The disks, and the claims for one pod.
  bool WouldBeFree(const WantedVolumes& wanted, const ClusterPod& pod, uint32_t slot,
                   const NodeChange& change);
  // What is to be bound or made for the pod on this node; nullopt: it is gone meanwhile.
  std::optional<VolumeDecision> BindingsOn(const WantedVolumes& wanted, uint32_t slot);

  // Promises what the decision binds. False: another pod was ahead, and nothing has changed.
  bool Promise(const VolumeDecision& decision, const std::string& node);
  // Ends what was promised and is not stored yet, but for the first `steps` of the decision.
  void Release(const VolumeDecision& decision, size_t steps);

 private:
  // How often, to whom.
  struct Promised {
    std::string to;
    size_t pods = 0;
  };
  struct Claim {
    ClusterVolumeClaimRef claim;  // Null: it does not exist (any more).
    int64_t pods = 0;             // On nodes, that mount it.
    std::vector<std::pair<uint32_t, int64_t>> by_slot;
    AttachedVolume attached;  // As it is counted on these nodes.
  };
  struct Place {
    ClusterPodRef pod;
    uint32_t slot = 0;
    uint64_t place = 0;
  };
  struct DiskHolder {
    InlineDisk disk;
    uint32_t slot = 0;
    uint64_t pod = 0;  // Its number.
  };

  void ApplyVolume(const ClusterChange& change);
  void ApplyClaim(const ClusterChange& change);
  void ApplyClass(const ClusterChange& change);
  void ApplyCsiNode(const ClusterChange& change);

  void Count(const ClusterPod& pod, uint32_t slot, int64_t sign);
  void CountClaim(const std::string& name, uint32_t slot, int64_t sign);
  void CountDisk(const InlineDisk& disk, const ClusterPod& pod, uint32_t slot, int64_t sign);
  // The claim's volume may be another one for nodes.
  void CountAnew(const std::string& name, Claim* claim);
  void CountClaimsOf(const std::string& volume);
  AttachedVolume AttachedOf(const std::string& name, const Claim& claim);
  AttachedVolume AttachedOf(const InlineDisk& disk);
  void ForgetUnused(const std::string& claim);
  // With the change counted as long as `passes` is asked.
  template <typename Passes>
  bool PassesChanged(uint32_t slot, const NodeChange& change, Passes passes);

  void AddClaim(const std::string& name, WantedVolumes* wanted);
  void AddBound(const ClusterVolumeClaim& claim, WantedVolumes* wanted);
  void AddZones(const ClusterVolumeClaim& claim, WantedVolumes* wanted);
  bool IsAnyInUse(const WantedVolumes& wanted) const;
  bool HasFreeDisks(const ClusterPod& pod, uint32_t slot) const;
  bool Reaches(const WantedVolumes& wanted, const ClusterNode& node);
  std::optional<VolumeDecision> Bindings(const WantedVolumes& wanted, const ClusterNode& node);
  // A volume that suits the claim and that names it, or is promised to it; null: there is none.
  ClusterVolumeRef VolumeMeantFor(const std::string& name, const ClusterVolumeClaim& claim) const;
  bool CanProvision(const ClusterVolumeClaim& claim, const ClusterNode& node) const;
  bool MayPromise(const VolumeDecision& decision, const std::string& node) const;
  // Null: it is gone, or bound.
  ClusterVolumeClaimRef UnboundClaim(const std::string& name) const;
  bool MayBind(const VolumeDecision::Binding& binding) const;
  bool MayProvision(const std::string& name, const std::string& node) const;
  void EndMeant(const std::string& claim, const std::string& volume);

  std::mutex mutex_;  // Guards all members.
  std::unordered_map<std::string, ClusterVolumeRef> volumes_;
  std::unordered_map<std::string, Claim> claims_;
  std::unordered_map<std::string, ClusterStorageClassRef> classes_;
  std::unordered_map<std::string, ClusterCsiNodeRef> csi_nodes_;
  std::unordered_map<std::string, uint32_t> slots_;                   // Of nodes, by name.
  std::vector<ClusterNodeRef> nodes_;                                 // By slot.
  std::unordered_map<std::string, std::set<std::string>> claims_of_;  // By the volume they name.
  std::unordered_map<std::string, std::set<std::string>> meant_for_;  // Volumes by their claim.
  std::unordered_map<uint64_t, Place> places_;                        // By pod slot.
  std::unordered_map<std::string, std::vector<DiskHolder>> disks_;    // By the disk's name.
  Attachments attachments_;
  AvailableVolumes available_;
  std::map<std::string, Promised> promised_volumes_;  // To claims.
  std::map<std::string, Promised> promised_claims_;   // To nodes.
};

}  // namespace schedq
