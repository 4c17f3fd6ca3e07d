// A node must have enough left of each resource that the pod asks for, and room for one more pod.
// The node with the least in use is the best.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {
namespace {

class NodeResourcesFit final : public PlacingPlugin {
 public:
  explicit NodeResourcesFit(ResourceTable* resources) : resources_(*resources) {}

  std::string_view name() const override { return "NodeResourcesFit"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kScore);
  }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    attempt->demand = resources_.DemandOf(*attempt->pod);
    return PreFilterAnswer::kFilter;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    if (attempt.demand.fits_nowhere) return 0;
    for (const NodeDemand::Part& part : attempt.demand) {
      candidates &= nodes.WithFree(block, part.kind, part.amount);
    }
    return candidates;
  }

  bool FilterChanged(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot,
                     const NodeChange& change) const override {
    if (attempt.demand.fits_nowhere) return false;
    return std::all_of(attempt.demand.begin(), attempt.demand.end(),
                       [&](const NodeDemand::Part& part) {
                         const int64_t free = nodes.free(slot, part.kind);
                         return free + change.freed(part.kind) >= part.amount;
                       });
  }

  void Score(const PlacingAttempt&, const NodeColumns& nodes, size_t block, uint64_t feasible,
             BlockScores* scores) const override {
    ForEachNode(block, feasible, [&](uint32_t slot) {
      (*scores)[slot % kNodesPerBlock] += kScoreMax - std::min(nodes.share(slot), kScoreMax);
    });
  }

 private:
  ResourceTable& resources_;
};

}  // namespace

PlacingPluginRef MakeNodeResourcesFit(const PlacingTools& tools) {
  return std::make_unique<NodeResourcesFit>(tools.resources);
}

}  // namespace schedq
