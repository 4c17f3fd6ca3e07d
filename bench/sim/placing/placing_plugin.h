// The placing half of a plugin of the scheduler: which nodes a pod may be on, and which it prefers.
//
// Purpose: kube-scheduler's extension points PreFilter, Filter, PreScore and Score, over columns of
// nodes, and Reserve, Unreserve, PreBindPreFlight and PreBind for what a pod gets beside the node's
// room. Permit and PostFilter are not modelled: no plugin here has anything to say there.
// The queue-facing half of the same plugin, its events and hints, is under hints/plugins. A new
// plugin is a file under plugins/, its declaration and one line in builtin_plugins.cc.
// Method: Filter says for 64 neighbouring nodes at once which of them pass. What is dear to ask is
// asked of one node at a time (FilterOne), from the best one on, until one passes.
// Scores: each plugin gives a node 0 to 100, and the node with the highest weighted sum is the
// best. A score that follows from the node's room and the pod's demand alone (ScoreRoom) is kept
// for the next pod of that demand (room_scores.h). Any other (Score) is asked for all feasible
// nodes at once, so that the plugin can relate them to each other, and only where PreScore says
// that the plugin has something to say about the pod.
// Cost: a plugin that says Skip in PreFilter and nothing in PreScore costs these two calls.
// Threads: a plugin is shared by all scheduling threads; its functions change only the attempt.
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
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "bench/sim/placing/relations/pod_class.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

// The plugins in the order in which they filter; their bits in Decision::rejectors.
enum class PlacingPluginId : uint8_t {
  kNodeName,
  kNodeUnschedulable,
  kTaintToleration,
  kNodeAffinity,
  kNodePorts,
  kNodeResourcesFit,
  kPodTopologySpread,
  kInterPodAffinity,
  kDynamicResources,
  kNodeResourcesBalancedAllocation,
  kImageLocality,
};
// As many as Decision::rejectors has bits.
inline constexpr size_t kPlacingPluginsMax = 32;

inline uint32_t BitOf(PlacingPluginId id) { return 1u << static_cast<int>(id); }

// What one attempt knows of its pod. PreFilter of each plugin writes the plugin's own part.
struct PlacingAttempt {
  const ClusterPod* pod = nullptr;
  NodeDemand demand;
  std::optional<WantedClaims> claims;  // Those of a pod that has any.
  PodClassRef pod_class;               // Where a plugin asks the pod book.
};

// What PreFilter says of the rest of the attempt.
enum class PreFilterAnswer : uint8_t {
  kFilter,  // Ask Filter, and FilterOne.
  kSkip,    // The plugin has nothing against any node.
  kReject,  // It has something against all.
};

// A plugin gives a node at most this.
inline constexpr int64_t kScoreMax = 100;

class PlacingPlugin {
 public:
  virtual ~PlacingPlugin() = default;

  virtual PlacingPluginId id() const = 0;
  // Kubernetes' name of it.
  virtual std::string_view name() const = 0;
  // False: it only scores, and has no queue-facing half.
  virtual bool filters() const { return true; }
  virtual PreFilterAnswer PreFilter(PlacingAttempt*) const { return PreFilterAnswer::kSkip; }
  // Those of `candidates`, a mask of the block's nodes, that pass.
  virtual uint64_t Filter(const PlacingAttempt&, const NodeColumns&, size_t /*block*/,
                          uint64_t candidates) const {
    return candidates;
  }
  // Whether FilterOne has anything to say after Filter.
  virtual bool FiltersOne(const PlacingAttempt&) const { return false; }
  virtual bool FilterOne(const PlacingAttempt&, const ClusterNode&) const { return true; }
  // --- Of the node that was chosen. What the pod gets there stands in the decision.

  // Adds it. False: it is gone meanwhile, and the attempt is decided anew.
  virtual bool Choose(const PlacingAttempt&, Decision*) const { return true; }
  // Takes it. False: another thread was ahead, and nothing was taken.
  virtual bool Reserve(const Decision&) const { return true; }
  // Gives it back, but for what the plugin's first `steps` steps of PreBind brought to the cluster.
  virtual void Unreserve(const Decision&, size_t /*steps*/) const {}
  // The calls to the API server that PreBind will make; none: it is skipped.
  virtual size_t PreBindPreFlight(const Decision&) const { return 0; }
  // Makes one of them. False: the binding fails. On the cluster's thread.
  virtual bool PreBind(size_t /*step*/, Cluster*, const ClusterPod&, const Decision&) const {
    return true;
  }

  // --- Scores: 0 to kScoreMax a node. The placer multiplies them by the weight.

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
};

// In the order in which they filter. An id stands once.
using PlacingPlugins = std::vector<std::unique_ptr<const PlacingPlugin>>;

// How NodeResourcesFit scores a node: kube-scheduler's scoring strategies.
struct FitScoring {
  enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };
  struct Resource {
    std::string name;
    int64_t weight = 1;
  };
  // Of kRequestedToCapacityRatio: the score, 0 to 10, of a node that is so much in use, in percent.
  // Between two points it is linear. In ascending order, at least one.
  struct Point {
    int64_t utilization = 0;
    int64_t score = 0;
  };

  Strategy strategy = Strategy::kLeastAllocated;
  std::vector<Resource> resources = {{"cpu", 1}, {"memory", 1}};
  std::vector<Point> shape = {};
};

// All plugins, with kube-scheduler's default weights. The books outlive them.
PlacingPlugins BuiltinPlacingPlugins(ResourceTable* resources, ClaimBook* claims, PodBook* pods,
                                     const FitScoring& scoring = {});

inline uint64_t BitOfNode(uint32_t slot) { return uint64_t{1} << slot % kNodesPerBlock; }

// The nodes of a mask, one after the other.
template <typename Visit>
void ForEachNode(size_t block, uint64_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) {
    visit(
        static_cast<uint32_t>(block * kNodesPerBlock + static_cast<size_t>(__builtin_ctzll(mask))));
  }
}

}  // namespace schedq
