// A pod goes only to nodes that its node selector and its required node affinity name, and rather
// to those that it prefers.
//
// Score: the weights of the preferred terms that a node meets, as a share of the most that one
// gets.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/normalize.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

class NodeAffinity final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "NodeAffinity"; }
  bool rejects_for_pods() const override { return false; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kScore);
  }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    return HasNodeAffinity(*attempt->pod) ? PreFilterAnswer::kFilter : PreFilterAnswer::kSkip;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    ForEachNode(block, candidates, [&](uint32_t slot) {
      if (MatchesAffinity(*attempt.pod, nodes.node(slot))) return;
      candidates &= ~(uint64_t{1} << slot % kNodesPerBlock);
    });
    return candidates;
  }

  int32_t weight() const override { return 2; }

  bool PreScore(PlacingAttempt* attempt, const NodeColumns&) const override {
    return !RulesOf(*attempt->pod).preferred_node_terms.empty();
  }

  void Score(const PlacingAttempt& attempt, const NodeColumns& nodes,
             std::span<const uint32_t> slots, std::span<int64_t> scores) const override {
    for (size_t i = 0; i < slots.size(); ++i) {
      scores[i] = PreferenceFor(*attempt.pod, nodes.node(slots[i]));
    }
    NormalizeToMost(scores);
  }
};

}  // namespace

PlacingPluginRef MakeNodeAffinity() { return std::make_unique<NodeAffinity>(); }

}  // namespace schedq
