// The placing half of a plugin of the scheduler: which nodes a pod may be on, and which it prefers.
//
// Purpose: kube-scheduler's extension points, over columns of nodes: PreFilter, Filter, PreScore
// and Score; PostFilter for a pod that no node takes; Reserve, Unreserve, PreBindPreFlight and
// PreBind for what a pod gets beside the node's room; Permit, at which a pod may have to wait.
// A plugin says at which of them it has something to say (points()); nobody else is asked there, so
// that a point that nobody uses costs nothing a pod.
// The queue-facing half of the same plugin, its events and hints, is under hints/plugins. A new
// plugin is a file under plugins/, its declaration and one line in builtin_plugins.cc.
// Method: Filter says for 64 neighbouring nodes at once which of them pass. What is dear to ask is
// asked of one node at a time (FilterOne), from the best one on, until one passes.
// Scores: each plugin gives a node 0 to 100, and the node with the highest weighted sum is the
// best. A score that follows from the node's room and the pod's demand alone (ScoreRoom) is kept
// for the next pod of that demand (room_scores.h). Any other (Score) is asked for all feasible
// nodes at once, so that the plugin can relate them to each other, and only where PreScore says
// that the plugin has something to say about the pod.
// Threads: a plugin is shared by all scheduling threads; its functions change only the attempt, but
// for what Reserve, Unreserve and Permit keep, which they guard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/groups/cycle_group.h"
#include "bench/sim/placing/groups/placement.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/relations/pod_class.h"
#include "bench/sim/placing/resource_table.h"
#include "bench/sim/placing/waiting_pods.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "hints/plugin.h"

namespace schedq {

// What a plugin may be asked. PreFilter and FilterOne belong to kFilter; PreScore and
// ScoreRoom to kScore; Choose and Unreserve to kReserve; PreBindPreFlight to kPreBind. The last
// three belong to cycles of groups.
enum class ExtensionPoint : uint8_t {
  kFilter,
  kPostFilter,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kPlacementGenerate,
  kPlacementFeasible,
  kPlacementScore,
};
inline constexpr size_t kExtensionPointCount = 9;

class ExtensionPoints {
 public:
  template <typename... Points>
  constexpr explicit ExtensionPoints(Points... points) : bits_((0u | ... | BitOf(points))) {}

  constexpr bool Has(ExtensionPoint point) const { return (bits_ & BitOf(point)) != 0; }

 private:
  static constexpr uint32_t BitOf(ExtensionPoint point) { return 1u << static_cast<int>(point); }

  uint32_t bits_;
};

struct WantedVolumes;

// What one attempt knows of its pod. PreFilter of each plugin writes the plugin's own part.
struct PlacingAttempt {
  const ClusterPod* pod = nullptr;
  Instant now{};
  uint64_t group_cycle = 0;  // In a cycle of a group: its number, from 1 on.
  NodeDemand demand;
  WantedClaimsRef claims;             // Those of a pod that has any; else null.
  PodClassRef pod_class;              // Where a plugin asks the pod book.
  const ClusterNode* node = nullptr;  // The one that was chosen, for Choose.
  // Those of a pod that has any (volumes/volume_book.h).
  std::shared_ptr<const WantedVolumes> volumes;
};

// What PreFilter says of the rest of the attempt.
enum class PreFilterAnswer : uint8_t {
  kFilter,  // Ask Filter, and FilterOne.
  kSkip,    // The plugin has nothing against any node.
  kReject,  // It has something against all.
};

// A plugin gives a node at most this.
inline constexpr int64_t kScoreMax = 100;

inline uint64_t BitOfNode(uint32_t slot) { return uint64_t{1} << slot % kNodesPerBlock; }

// How far a cycle has come with the members of a group, or with the children of a composite.
struct GroupProgress {
  int64_t remaining = 0;  // Not tried yet.
  int64_t scheduled = 0;
};
// Whether the group has what it needs, may still get it, or cannot.
enum class Feasibility : uint8_t { kMet, kNotYet, kNever };

// Where a group would go.
struct ProposedPlacement {
  const GroupPlacement* placement = nullptr;
  std::vector<const ClusterPod*> pods;
};

// A search that found no node, as PostFilter sees it.
class FailedSearch {
 public:
  virtual ~FailedSearch() = default;

  virtual const PlacingAttempt& attempt() const = 0;
  virtual const NodeColumns& nodes() const = 0;
  // Where a search among all nodes begins: at random, as kube-scheduler does.
  virtual size_t first_block() const = 0;
  // nullopt: the search knows no such node.
  virtual std::optional<uint32_t> SlotOf(const std::string& node) const = 0;
  // Whether the node would pass all filters if it were changed so, with the pods in place that are
  // nominated to it and go before the attempt's.
  virtual bool WouldPass(uint32_t slot, const NodeChange& change) const = 0;
};

class PlacingPlugin {
 public:
  virtual ~PlacingPlugin() = default;

  // Kubernetes' name of it.
  virtual std::string_view name() const = 0;
  virtual ExtensionPoints points() const = 0;

  // --- kFilter.

  virtual PreFilterAnswer PreFilter(PlacingAttempt*) const { return PreFilterAnswer::kFilter; }
  // Those of `candidates`, a mask of the block's nodes, that pass.
  virtual uint64_t Filter(const PlacingAttempt&, const NodeColumns&, size_t /*block*/,
                          uint64_t candidates) const {
    return candidates;
  }
  // Whether FilterOne has anything to say after Filter.
  virtual bool FiltersOne(const PlacingAttempt&) const { return false; }
  virtual bool FilterOne(const PlacingAttempt&, const ClusterNode&) const { return true; }
  // Whether the node would pass if it were changed so. A plugin to which other pods make a
  // difference overrides it.
  virtual bool FilterChanged(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot,
                             const NodeChange&) const {
    if (Filter(attempt, nodes, slot / kNodesPerBlock, BitOfNode(slot)) == 0) return false;
    return !FiltersOne(attempt) || FilterOne(attempt, nodes.node(slot));
  }

  // Whether a node that it rejects might pass if pods went from it.
  virtual bool rejects_for_pods() const { return true; }

  // --- kPostFilter. nullopt: it can do nothing for the pod. The first that can is the last that is
  // asked.

  virtual std::optional<PostFilterResult> PostFilter(const FailedSearch&) const {
    return std::nullopt;
  }

  // --- kScore: 0 to kScoreMax a node. The placer multiplies it by the weight.

  virtual int32_t weight() const { return 0; }
  // Whether ScoreRoom says anything. It may read nothing but the attempt's demand and the node's
  // room.
  virtual bool scores_room() const { return false; }
  virtual int64_t ScoreRoom(const PlacingAttempt&, const NodeColumns&, uint32_t /*slot*/) const {
    return 0;
  }
  // Whether Score has anything to say about the pod.
  virtual bool PreScore(PlacingAttempt*, const NodeColumns&) const { return false; }
  // Writes the score of each of these nodes, all that are feasible, to its place in `scores`.
  virtual void Score(const PlacingAttempt&, const NodeColumns&, std::span<const uint32_t> /*slots*/,
                     std::span<int64_t> /*scores*/) const {}

  // --- kReserve, of the node that was chosen. What the pod gets there stands in the decision.

  // Adds it. False: it is gone meanwhile, and the attempt is decided anew.
  virtual bool Choose(const PlacingAttempt&, Decision*) const { return true; }
  // Takes it. False: another thread was ahead, and nothing was taken.
  virtual bool Reserve(const ClusterPod&, const Decision&) const { return true; }
  // Gives it back, but for what the plugin's first `steps` steps of PreBind brought to the cluster.
  virtual void Unreserve(const ClusterPod&, const Decision&, size_t /*steps*/) const {}

  // --- kPermit, of a pod that has reserved. `self` is the plugin's number, by which it allows and
  // rejects pods that wait.

  virtual PermitAnswer Permit(const ClusterPod&, const Decision&, size_t /*self*/,
                              WaitingPods*) const {
    return {};
  }

  // --- kPreBind.

  // The calls to the API server that PreBind will make; none: it is skipped.
  virtual size_t PreBindPreFlight(const Decision&) const { return 0; }
  // How long from now until the step may be taken, for which the pod has waited so long; 0: now.
  // Asked again after that time. On the cluster's thread.
  virtual Duration PreBindDelay(size_t /*step*/, Duration /*waited*/, const Cluster&,
                                const ClusterPod&, const Decision&) const {
    return Duration(0);
  }
  // Makes one of them. False: the binding fails. On the cluster's thread.
  virtual bool PreBind(size_t /*step*/, Cluster*, const ClusterPod&, const Decision&) const {
    return true;
  }

  // --- kPlacementGenerate, of a group. Only the first plugin is asked.

  // The sets of nodes among which the group is to be tried, all within the parent's.
  virtual Result<std::vector<GroupPlacement>> GeneratePlacements(const CycleGroup&,
                                                                 const GroupPlacement& parent,
                                                                 const NodeColumns&) const {
    return std::vector<GroupPlacement>{parent};
  }

  // --- kPlacementFeasible, of a group: before the first member is tried, and after each.

  virtual Feasibility PlacementFeasible(const CycleGroup&, const GroupProgress&) const {
    return Feasibility::kMet;
  }

  // --- kPlacementScore, of a group and one of several placements that it fits: 0 to kScoreMax
  // after NormalizePlacements.

  virtual int64_t ScorePlacement(const CycleGroup&, const ProposedPlacement&,
                                 const NodeColumns&) const {
    return 0;
  }
  virtual void NormalizePlacements(std::span<int64_t> /*scores*/) const {}
};

using PlacingPluginRef = std::unique_ptr<const PlacingPlugin>;

// The nodes of a mask, one after the other.
template <typename Visit>
void ForEachNode(size_t block, uint64_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) {
    visit(
        static_cast<uint32_t>(block * kNodesPerBlock + static_cast<size_t>(__builtin_ctzll(mask))));
  }
}

}  // namespace schedq
