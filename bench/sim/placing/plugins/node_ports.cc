// A node gives each of its ports to one pod.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

class NodePorts final : public PlacingPlugin {
 public:
  explicit NodePorts(PodBook* book) : book_(*book) {}

  std::string_view name() const override { return "NodePorts"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    if (RulesOf(*attempt->pod).host_ports.empty()) return PreFilterAnswer::kSkip;
    attempt->pod_class = book_.ClassOf(*attempt->pod);
    return PreFilterAnswer::kFilter;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    return book_.WithFreePorts(attempt.pod_class, nodes, block, candidates);
  }

  bool FilterChanged(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot,
                     const NodeChange& change) const override {
    return book_.WouldHaveFreePorts(attempt.pod_class, nodes, slot, change);
  }

 private:
  PodBook& book_;
};

}  // namespace

PlacingPluginRef MakeNodePorts(const PlacingTools& tools) {
  return std::make_unique<NodePorts>(tools.pod_book);
}

}  // namespace schedq
