// A group with a topology constraint is tried on the nodes of each value of the label, one after
// the other; without a constraint on all nodes of its parent's placement.
//
// Once members are placed the others go where these are.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/groups/cycle_group.h"
#include "bench/sim/placing/groups/placement.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "engine/base/result.h"
#include "engine/pod.h"

namespace schedq {
namespace {

// The value of the label where the group's placed members are; nullopt: none is placed.
Result<std::optional<std::string>> DomainOfPlaced(const CycleGroup& group, const std::string& key,
                                                  const NodeColumns& nodes) {
  std::optional<std::string> domain;
  if (group.placed.empty()) return domain;
  std::map<std::string_view, const ClusterNode*> by_name;
  for (size_t block = 0; block < nodes.blocks(); ++block) {
    ForEachNode(block, nodes.known(block),
                [&](uint32_t slot) { by_name[nodes.node(slot).name] = &nodes.node(slot); });
  }
  for (const GroupBook::Placed& placed : group.placed) {
    const auto node = by_name.find(placed.node);
    if (node == by_name.end()) {
      return Error("node " + placed.node + " of a member is not known");
    }
    const std::string value(LabelValue(node->second->labels, key));
    if (value.empty()) return Error("node " + placed.node + " of a member has no label " + key);
    if (domain && *domain != value) {
      return Error("members are in several domains: " + *domain + ", " + value);
    }
    domain = value;
  }
  return domain;
}

class TopologyPlacement final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "TopologyPlacementGenerator"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kPlacementGenerate);
  }

  // In the order of their first nodes; upstream's order is that of a map, which is random.
  Result<std::vector<GroupPlacement>> GeneratePlacements(const CycleGroup& group,
                                                         const GroupPlacement& parent,
                                                         const NodeColumns& nodes) const override {
    const std::string& key = group.object->spec.topology_key;
    if (key.empty()) return std::vector<GroupPlacement>{parent};
    const Result<std::optional<std::string>> required = DomainOfPlaced(group, key, nodes);
    if (!required) return required.error();
    std::vector<GroupPlacement> placements;
    std::map<std::string, size_t, std::less<>> by_domain;
    for (size_t block = 0; block < nodes.blocks(); ++block) {
      ForEachNode(block, nodes.known(block) & parent.Of(block), [&](uint32_t slot) {
        const std::string_view domain = LabelValue(nodes.node(slot).labels, key);
        if (domain.empty() || (*required && **required != domain)) return;
        auto found = by_domain.find(domain);
        if (found == by_domain.end()) {
          found = by_domain.emplace(domain, placements.size()).first;
          placements.emplace_back().name = domain;
        }
        placements[found->second].Add(block, BitOfNode(slot));
      });
    }
    return placements;
  }
};

}  // namespace

PlacingPluginRef MakeTopologyPlacement() { return std::make_unique<TopologyPlacement>(); }

}  // namespace schedq
