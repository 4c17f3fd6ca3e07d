// The placing half of a plugin of the scheduler: which nodes a pod may be on, and which it prefers.
//
// Purpose: kube-scheduler's extension points PreFilter, Filter and Score, over columns of nodes,
// and Reserve, Unreserve, PreBindPreFlight and PreBind for what a pod gets beside the node's room.
// Permit and PostFilter are not modelled: no plugin here has anything to say there.
// The queue-facing half of the same plugin, its events and hints, is under hints/plugins. A new
// plugin is a file under plugins/, its declaration and one line in builtin_plugins.cc.
// Method: Filter says for 64 neighbouring nodes at once which of them pass. What is dear to ask is
// asked of one node at a time (FilterOne), from the best one on, until one passes.
// Threads: a plugin is shared by all scheduling threads; its functions change only the attempt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

// The plugins in the order in which they filter; their bits in Decision::rejectors.
enum class PlacingPluginId : uint8_t {
  kNodeUnschedulable,
  kTaintToleration,
  kNodeAffinity,
  kNodeResourcesFit,
  kDynamicResources,
};
inline constexpr size_t kPlacingPlugins = 5;

inline uint32_t BitOf(PlacingPluginId id) { return 1u << static_cast<int>(id); }

// What one attempt knows of its pod. PreFilter of each plugin writes the plugin's own part.
struct PlacingAttempt {
  const ClusterPod* pod = nullptr;
  NodeDemand demand;
  std::optional<WantedClaims> claims;  // Those of a pod that has any.
};

// What PreFilter says of the rest of the attempt.
enum class PreFilterAnswer : uint8_t {
  kFilter,  // Ask Filter, and FilterOne.
  kSkip,    // The plugin has nothing against any node.
  kReject,  // It has something against all.
};

// Scores of the nodes of a block. The node with the highest sum is the best.
using BlockScores = std::array<uint32_t, kNodesPerBlock>;
inline constexpr uint32_t kScoreMax = 1'000'000;

class PlacingPlugin {
 public:
  virtual ~PlacingPlugin() = default;

  virtual PlacingPluginId id() const = 0;
  // Kubernetes' name of it.
  virtual std::string_view name() const = 0;
  virtual PreFilterAnswer PreFilter(PlacingAttempt* attempt) const = 0;
  // Those of `candidates`, a mask of the block's nodes, that pass.
  virtual uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                          uint64_t candidates) const = 0;
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

  // --- Of many nodes.

  // Adds 0 to kScoreMax to the score of each node of the mask.
  virtual void Score(const PlacingAttempt&, const NodeColumns&, size_t /*block*/,
                     uint64_t /*feasible*/, BlockScores*) const {}
};

using PlacingPlugins = std::array<std::unique_ptr<const PlacingPlugin>, kPlacingPlugins>;

// All plugins, by PlacingPluginId. The book outlives them.
PlacingPlugins BuiltinPlacingPlugins(ResourceTable* resources, ClaimBook* claims);

// The nodes of a mask, one after the other.
template <typename Visit>
void ForEachNode(size_t block, uint64_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) {
    visit(
        static_cast<uint32_t>(block * kNodesPerBlock + static_cast<size_t>(__builtin_ctzll(mask))));
  }
}

}  // namespace schedq
