// One cycle of a group: what becomes of its members, for a scheduler that then says so to the
// queue and the API server.
//
// Purpose: kube-scheduler's cycle of a pod group up to its submission, the same on both clocks. The
// root and its members are checked, searched for nodes, and where they do not get what they need
// pods of a lower priority may be preempted for them.
// Threads: one for each scheduling thread; cycles of several threads share a cache.
// Invariant: the members that end with kBind are assumed, and no others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/groups/cycle_group.h"
#include "bench/sim/placing/groups/group_search.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {

enum class MemberEnd : uint8_t {
  kBind,      // It goes to its node.
  kFits,      // It would have a node, but its group does not get what it needs.
  kRejected,  // By the plugins of its decision; none: its group ended before it was tried.
  kError,
};

struct MemberOutcome {
  MemberEnd end = MemberEnd::kError;
  Decision decision;
  bool was_tried = false;  // Else its attempt took no time.
  Duration spent{};        // On its trial, by the machine's clock.
  // The node to which it is nominated from now on; empty: none, or no change where keeps is set.
  std::string nominated;
  bool keeps_nomination = false;
};

// Decisions, and the nodes that they counted with.
struct GroupWork {
  size_t decisions = 0;
  size_t nodes_looked_at = 0;

  void Add(const GroupWork& other) {
    decisions += other.decisions;
    nodes_looked_at += other.nodes_looked_at;
  }
};

struct GroupOutcome {
  GroupStatus status = GroupStatus::kError;
  std::vector<MemberOutcome> members;  // In the order of the members.
  bool was_searched = false;           // False: it failed its check before any member was tried.
  bool asked_to_preempt = false;       // Whether preemption was asked what it can do.
  bool waits_for_preemption = false;
  bool has_preemption_failed = false;
  std::vector<ClusterPodRef> victims;
  size_t violations = 0;  // Of the victims: more than disruption budgets allow.
  // Of the groups below the root that are no composites: conditions that are new.
  std::vector<std::pair<GroupKey, PodCondition>> conditions;
  GroupWork searched;
  GroupWork preempted;  // In asking what preemption can do.
  size_t conflicts = 0;

  // The cycle counts as this. The queue hears of the status, as upstream's does.
  GroupStatus Counted() const { return has_preemption_failed ? GroupStatus::kError : status; }
};

// Victims could not be deleted: all members fail as after an error.
void FailPreemption(GroupOutcome* outcome);

class GroupCycle {
 public:
  // Both outlive it. `on_released` is told of what members gave back, at the end of a search, where
  // other threads decide too. May be empty.
  GroupCycle(SchedulerCache* cache, Placer* placer, const Random& random,
             std::function<void(const ClusterPod& pod, const std::string& node)> on_released = {})
      : cache_(*cache), placer_(*placer), random_(random), on_released_(std::move(on_released)) {}

  GroupOutcome Run(const GroupKey& root, const std::vector<ClusterPodRef>& members,
                   Instant now = {});

 private:
  // Before any member was tried. Where the tree is not known nobody is told why.
  GroupOutcome EndInError(size_t members, const CycleGroup* tree, const std::string& why) const;
  // Leaves out the conditions that change nothing.
  void KeepNews(GroupOutcome* outcome) const;
  void Preempt(const CycleGroup& tree, const std::vector<GroupMember>& members,
               GroupOutcome* outcome);
  // What becomes of the members of the group and of those below it; `above` is its parent's end.
  void Conclude(const CycleGroup& tree, const GroupSearch& search, const GroupResult& above,
                std::vector<GroupMember>* members, GroupOutcome* outcome) const;

  SchedulerCache& cache_;
  Placer& placer_;
  Random random_;
  uint64_t preemptions_ = 0;
  const std::function<void(const ClusterPod& pod, const std::string& node)> on_released_;
};

}  // namespace schedq
