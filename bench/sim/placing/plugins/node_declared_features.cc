// A pod that needs features of its node goes only to nodes that declare all of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "engine/object.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

class NodeDeclaredFeatures final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "NodeDeclaredFeatures"; }
  bool rejects_for_pods() const override { return false; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    const bool needs_any = !RulesOf(*attempt->pod).node_features.empty();
    return needs_any ? PreFilterAnswer::kFilter : PreFilterAnswer::kSkip;
  }

  // Neighbouring nodes mostly share one list.
  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    const auto& needed = RulesOf(*attempt.pod).node_features;
    const FeatureNames* last = nullptr;
    bool last_has_all = false;
    ForEachNode(block, candidates, [&](uint32_t slot) {
      const FeatureNames* const declared = nodes.node(slot).declared_features.get();
      if (declared == nullptr) {
        candidates &= ~BitOfNode(slot);
        return;
      }
      if (declared != last) {
        last = declared;
        last_has_all =
            std::includes(declared->begin(), declared->end(), needed.begin(), needed.end());
      }
      if (!last_has_all) candidates &= ~BitOfNode(slot);
    });
    return candidates;
  }
};

}  // namespace

PlacingPluginRef MakeNodeDeclaredFeatures() { return std::make_unique<NodeDeclaredFeatures>(); }

}  // namespace schedq
