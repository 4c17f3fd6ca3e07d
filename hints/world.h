// What plugins may know of the cluster beyond the pod and the change that they are called with.
//
// Purpose: the claims that exist, the live pods by the claims that they use, the groups that are
// known and how many members each has, and the pods whose preemption victims are not gone yet. The
// caller that tells the queue of the cluster tells the world first, so that PreEnqueue and hints
// see the state after the operation.
// When not to use it: the queue's own state (places, rejectors) is not here.
// Threads: any thread may read or change it at any time; two changes of one pod, one claim
// or one group must come in their order.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/names/interner.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "hints/claims/claim_index.h"
#include "hints/groups/group_index.h"
#include "hints/running_preemptions.h"

namespace schedq {

class World {
 public:
  // `pod_names` numbers pods; it is the queue's own, and outlives the world.
  explicit World(Interner* pod_names) : pod_names_(pod_names), claim_index_(pod_names) {}

  // A pod became live (`before` null), changed, or stopped being live: deleted or bound (`after`
  // null). False: there is no room for a name of `after`, and nothing has changed.
  bool PodChanged(const Pod* before, const Pod* after) {
    return claim_index_.Update(before, after);
  }

  // A ResourceClaim was added or updated, or was deleted.
  void ClaimSeen(std::string_view namespace_name, std::string_view name) {
    claim_index_.Insert(namespace_name, name);
  }
  void ClaimGone(std::string_view namespace_name, std::string_view name) {
    claim_index_.Erase(namespace_name, name);
  }

  // Where groups are known. A pod was added, bound or not, or was deleted: a pod that is bound
  // stays a member of its group. Without a group nothing happens. False: there is no room for its
  // uid or its group's name, and nothing has changed.
  bool MemberAdded(const Pod& pod) { return groups_.Join(pod); }
  void MemberDeleted(const Pod& pod) { groups_.Leave(pod); }

  // A group object was added or updated, or was deleted.
  void GroupSeen(const PodGroup& group) { groups_.See(group); }
  void GroupGone(const GroupKey& group) { groups_.Forget(group); }

  const Interner& pod_names() const { return *pod_names_; }
  const ClaimIndex& claim_index() const { return claim_index_; }
  const GroupIndex& groups() const { return groups_; }
  const RunningPreemptions& preemptions() const { return preemptions_; }
  RunningPreemptions* mutable_preemptions() { return &preemptions_; }

 private:
  Interner* const pod_names_;
  ClaimIndex claim_index_;
  GroupIndex groups_;
  RunningPreemptions preemptions_;
};

}  // namespace schedq
