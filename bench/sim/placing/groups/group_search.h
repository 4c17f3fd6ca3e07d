// Tries the members of a group, one after the other, as kube-scheduler's cycle of a pod group does.
//
// Purpose: members are decided in their order, and each is assumed before the next is tried, so
// that they see each other. A group that gets what it needs keeps what is assumed; any other gives
// it back. With placements (TopologyPlacement) a group is tried on each of them, and goes where the
// placement scores best; a composite tries its children on each, and these are tried within it.
// Threads: one. Other threads that use the cache see what is assumed while the group is tried.
// Invariant: after Run exactly the members are assumed whose state is kPlaced in groups that
// succeeded, of a root that did.
// Cost: the decisions, and as many assumptions, which are given back.
// Memory: a decision for each member and placement that the group fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/groups/cycle_group.h"
#include "bench/sim/placing/groups/placement.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/pod_group.h"

namespace schedq {

enum class TrialEnd : uint8_t {
  kUntried,   // What was decided of its group came before.
  kPlaced,    // It has a node.
  kRejected,  // No node takes it.
  kError,     // Other threads were ahead too often.
};

struct GroupMember {
  ClusterPodRef pod;
  TrialEnd state = TrialEnd::kUntried;
  Decision decision;
  Duration spent{};  // On the last trial, by the machine's clock.
};

// What became of a group.
struct GroupResult {
  GroupStatus status = GroupStatus::kUnschedulable;
  std::string message;
  bool has_placed = false;  // A member below it.
};

class GroupSearch {
 public:
  struct Parts {
    SchedulerCache* cache = nullptr;
    Placer* placer = nullptr;
    Random* random = nullptr;  // Chooses among placements of one score.
    Instant now{};
  };
  // A member that gave a node back.
  struct Released {
    ClusterPodRef pod;
    std::string node;
  };
  // After so many conflicts in a row a member fails as after an error.
  static constexpr int kConflictsMax = 32;

  // All outlive it.
  GroupSearch(const Parts& parts, std::vector<GroupMember>* members)
      : parts_(parts), cycle_(parts.cache->BeginGroupCycle()), members_(*members) {}

  GroupResult Run(const CycleGroup& root);
  // Gives back what is assumed.
  void Revert() { RevertTo(0); }

  // Of each group that was tried.
  const std::map<GroupKey, GroupResult>& results() const { return results_; }
  // The members that are assumed, in their order.
  const std::vector<size_t>& assumed() const { return assumed_; }
  const std::unordered_set<uint64_t>& assumed_numbers() const { return assumed_numbers_; }
  // What a member's decision is to count with.
  Placer::Scope ScopeOn(const GroupPlacement* placement) const {
    return {placement, &assumed_numbers_, {parts_.now, 0}, cycle_};
  }
  // Nodes that decisions counted with, decisions, and those that another thread was ahead of.
  size_t nodes_looked_at() const { return nodes_looked_at_; }
  size_t decisions() const { return decisions_; }
  size_t conflicts() const { return conflicts_; }
  // While others decide too, they are to be told of these: one a node, and of each kind of pod.
  const std::vector<Released>& released() const { return released_; }

 private:
  // What a placement came to.
  struct Tried {
    const GroupPlacement* placement = nullptr;
    GroupResult result;
    std::vector<std::pair<size_t, GroupMember>> members;
    std::map<GroupKey, GroupResult> results;
  };

  GroupResult Search(const CycleGroup& group, const GroupPlacement* parent);
  GroupResult TryPlacements(const CycleGroup& group, const GroupPlacement& parent);
  GroupResult TryAll(const CycleGroup& group, const std::vector<GroupPlacement>& placements);
  // On one placement; null: on all nodes.
  GroupResult Try(const CycleGroup& group, const GroupPlacement* placement);
  GroupResult TryMembers(const CycleGroup& group, const GroupPlacement* placement);
  GroupResult TryChildren(const CycleGroup& group, const GroupPlacement* placement);
  void TryMember(size_t index, const GroupPlacement* placement);
  void TryToPlace(size_t index, const GroupPlacement* placement);
  Feasibility AskFeasible(const CycleGroup& group, const GroupProgress& progress) const;
  size_t BestOf(const CycleGroup& group, const std::vector<Tried>& fitting);

  void Reset(const CycleGroup& group);
  Tried Save(const CycleGroup& group, const GroupPlacement* placement, GroupResult result) const;
  void SaveBelow(const CycleGroup& group, Tried* tried) const;
  void Restore(const CycleGroup& group, const Tried& tried);
  bool AssumeAgain(const CycleGroup& group);
  bool Assume(size_t index);
  void RevertTo(size_t count);
  void NoteReleased(const GroupMember& member);
  GroupPlacement AllNodes();

  const Parts parts_;
  const uint64_t cycle_;
  std::vector<GroupMember>& members_;
  std::map<GroupKey, GroupResult> results_;
  std::vector<size_t> assumed_;
  std::unordered_set<uint64_t> assumed_numbers_;
  std::vector<Released> released_;
  std::map<std::string, std::vector<size_t>> released_of_;  // By node: their places.
  size_t nodes_looked_at_ = 0;
  size_t decisions_ = 0;
  size_t conflicts_ = 0;
};

}  // namespace schedq
