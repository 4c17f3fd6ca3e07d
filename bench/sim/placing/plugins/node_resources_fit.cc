// A node must have enough left of each resource that the pod asks for, and room for one more pod.
// The node with the least in use is the best.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {
namespace {

class NodeResourcesFit final : public PlacingPlugin {
 public:
  explicit NodeResourcesFit(ResourceTable* resources) : resources_(*resources) {}

  PlacingPluginId id() const override { return PlacingPluginId::kNodeResourcesFit; }
  std::string_view name() const override { return "NodeResourcesFit"; }

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

std::unique_ptr<const PlacingPlugin> MakeNodeResourcesFit(ResourceTable* resources) {
  return std::make_unique<NodeResourcesFit>(resources);
}

}  // namespace schedq
