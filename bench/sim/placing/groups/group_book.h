// The scheduler's knowledge of groups: their objects, and the members that have a node.
//
// Purpose: what kube-scheduler's cache knows of pod groups. A member counts as placed from its
// Permit on, when it is on its way to a node, and while the informers say that it has one.
// When not to use it: for how many members there are (hints/groups/group_index.h).
// Threads: any, under one lock. While the gate GenericWorkload is off nobody calls it.
// Invariant: a pod is placed once at most.
// Memory: a reference a group and a placed member; the uid of each member that waits for its gang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "engine/pod_group.h"

namespace schedq {

class GroupBook {
 public:
  struct Placed {
    std::string uid;
    std::string node;
    ClusterPodRef bound;      // As the informers say; null: it is on its way.
    uint32_t assumption = 0;  // By which it is on its way (decision.h).
  };

  // Whether trees of groups are known.
  void KnowComposites(bool known) { knows_composites_ = known; }
  bool knows_composites() const { return knows_composites_; }

  // A change of a group, or of a pod, that the informers delivered.
  void Apply(const ClusterChange& change);
  // The member goes to the node of the decision, by its assumption.
  void Place(const ClusterPod& pod, const Decision& decision);
  // It does not, unless the informers say that it is there, or it goes by another assumption.
  void Withdraw(const ClusterPod& pod, const Decision& decision);

  // A member waits until the gang of the root is complete. Called before the caller looks whether
  // it is, so that of two threads one finds the other's member.
  void NoteWaiting(const GroupKey& root, const ClusterPod& pod);
  // The uids of those that wait. They wait no more.
  std::vector<std::string> TakeWaiting(const GroupKey& root);

  // Null: it is not known.
  ClusterGroupRef Find(const GroupKey& key) const;
  // The groups that name the composite as their parent, by kind and name.
  std::vector<ClusterGroupRef> ChildrenOf(const GroupKey& composite) const;
  size_t PlacedCount(const GroupKey& group) const;

  // The priority by which others may preempt the pod: that of its root, where it is known.
  int32_t PriorityOf(const ClusterPod& pod) const;
  // The highest group above the pod that is disrupted as one. Null: there is none.
  ClusterGroupRef DisruptedAsOne(const ClusterPod& pod) const;
  // The members of the group, or of all groups below the composite, that are bound.
  std::vector<ClusterPodRef> BoundBelow(const GroupKey& group) const;
  // The members that are placed, likewise.
  std::vector<Placed> PlacedBelow(const GroupKey& group) const;

 private:
  using Members = std::map<uint64_t, Placed>;  // By the pod's number.

  // The group and those above it, from the lowest on. With the lock held, as below.
  std::vector<ClusterGroupRef> WayUp(const ClusterPod& pod) const;
  ClusterGroupRef FindLocked(const GroupKey& key) const;
  void AddPlacedBelow(const GroupKey& group, int depth, std::vector<Placed>* placed) const;

  void AddChild(const ClusterGroup& group);
  void RemoveChild(const ClusterGroup& group);

  mutable std::mutex mutex_;  // Guards the maps.
  std::map<GroupKey, ClusterGroupRef> groups_;
  std::map<GroupKey, std::set<GroupKey>> children_;    // Known ones, by their parent's key.
  std::map<GroupKey, std::set<std::string>> waiting_;  // By root.
  std::map<GroupKey, Members> placed_;
  bool knows_composites_ = false;  // Set before the first use.
};

}  // namespace schedq
