// A pod goes only to nodes that its node selector and its required node affinity name.
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

class NodeAffinity final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "NodeAffinity"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    const bool asks =
        !attempt->pod->node_selector.empty() || !attempt->pod->spec().node_terms.empty();
    return asks ? PreFilterAnswer::kFilter : PreFilterAnswer::kSkip;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    ForEachNode(block, candidates, [&](uint32_t slot) {
      if (MatchesAffinity(*attempt.pod, nodes.node(slot))) return;
      candidates &= ~(uint64_t{1} << slot % kNodesPerBlock);
    });
    return candidates;
  }
};

}  // namespace

PlacingPluginRef MakeNodeAffinity() { return std::make_unique<NodeAffinity>(); }

}  // namespace schedq
