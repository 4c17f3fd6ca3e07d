// A cordoned node takes only pods that tolerate the cordon.
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

class NodeUnschedulable final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "NodeUnschedulable"; }
  bool rejects_for_pods() const override { return false; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    return ToleratesCordon(*attempt->pod) ? PreFilterAnswer::kSkip : PreFilterAnswer::kFilter;
  }

  uint64_t Filter(const PlacingAttempt&, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    return candidates & ~nodes.unschedulable(block);
  }
};

}  // namespace

PlacingPluginRef MakeNodeUnschedulable() { return std::make_unique<NodeUnschedulable>(); }

}  // namespace schedq
