// A pod that names its node goes to no other. Pods that name one when they are created are on it
// already and are never attempted, so this filter is for pods of embedders and tests.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"

namespace schedq {
namespace {

class NodeName final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "NodeName"; }
  bool rejects_for_pods() const override { return false; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    return attempt->pod->node_name.empty() ? PreFilterAnswer::kSkip : PreFilterAnswer::kFilter;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    uint64_t left = 0;
    ForEachNode(block, candidates, [&](uint32_t slot) {
      if (nodes.node(slot).name == attempt.pod->node_name) left = BitOfNode(slot);
    });
    return left;
  }
};

}  // namespace

PlacingPluginRef MakeNodeName() { return std::make_unique<NodeName>(); }

}  // namespace schedq
