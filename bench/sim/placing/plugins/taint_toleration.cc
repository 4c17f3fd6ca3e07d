// A tainted node takes only pods that tolerate each of its taints. Taints that only discourage
// (PreferNoSchedule) keep no pod away.
//
// Score: the fewer discouraging taints of a node the pod does not tolerate, the better.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/node_match.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/normalize.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "hints/plugins/tolerations.h"

namespace schedq {
namespace {

class TaintToleration final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "TaintToleration"; }
  bool rejects_for_pods() const override { return false; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kScore);
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    ForEachNode(block, candidates & nodes.tainted(block), [&](uint32_t slot) {
      if (ToleratesNode(*attempt.pod, nodes.node(slot))) return;
      candidates &= ~(uint64_t{1} << slot % kNodesPerBlock);
    });
    return candidates;
  }

  int32_t weight() const override { return 3; }

  bool PreScore(PlacingAttempt*, const NodeColumns& nodes) const override {
    return nodes.has_discouraging_taints();
  }

  void Score(const PlacingAttempt& attempt, const NodeColumns& nodes,
             std::span<const uint32_t> slots, std::span<int64_t> scores) const override {
    for (size_t i = 0; i < slots.size(); ++i) {
      scores[i] = DiscouragingTaints(*attempt.pod, nodes.node(slots[i]));
    }
    NormalizeToFewest(scores);
  }
};

}  // namespace

PlacingPluginRef MakeTaintToleration() { return std::make_unique<TaintToleration>(); }

}  // namespace schedq
