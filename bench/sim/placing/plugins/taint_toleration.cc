// A tainted node takes only pods that tolerate each of its taints. Taints that only discourage
// (PreferNoSchedule) keep no pod away.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/node_match.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"

namespace schedq {
namespace {

class TaintToleration final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "TaintToleration"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    ForEachNode(block, candidates & nodes.tainted(block), [&](uint32_t slot) {
      if (ToleratesTaints(*attempt.pod, nodes.node(slot))) return;
      candidates &= ~(uint64_t{1} << slot % kNodesPerBlock);
    });
    return candidates;
  }
};

}  // namespace

PlacingPluginRef MakeTaintToleration() { return std::make_unique<TaintToleration>(); }

}  // namespace schedq
