// A pod with claims goes to a node that has the devices of all of them.
//
// A pod whose claim is missing, or is promised to another pod, fits nowhere for now. Claims that
// are allocated already are on one node, the only one for the pod.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"

namespace schedq {
namespace {

class DynamicResources final : public PlacingPlugin {
 public:
  explicit DynamicResources(const ClaimBook* claims) : book_(*claims) {}

  PlacingPluginId id() const override { return PlacingPluginId::kDynamicResources; }
  std::string_view name() const override { return "DynamicResources"; }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    const ClusterPod& pod = *attempt->pod;
    if (pod.claims.empty() && pod.generated_claims.empty()) return PreFilterAnswer::kSkip;
    attempt->claims = book_.WantedBy(pod);
    if (!attempt->claims) return PreFilterAnswer::kReject;
    const bool is_free = attempt->claims->unallocated.empty() && attempt->claims->only_node.empty();
    return is_free ? PreFilterAnswer::kSkip : PreFilterAnswer::kFilter;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    if (attempt.claims->only_node.empty()) return candidates;
    uint64_t left = 0;
    ForEachNode(block, candidates, [&](uint32_t slot) {
      if (nodes.node(slot).name != attempt.claims->only_node) return;
      left |= uint64_t{1} << slot % kNodesPerBlock;
    });
    return left;
  }

  bool FiltersOne(const PlacingAttempt& attempt) const override {
    return !attempt.claims->unallocated.empty();
  }

  bool FilterOne(const PlacingAttempt& attempt, const ClusterNode& node) const override {
    return book_.HasDevicesFor(*attempt.claims, node.name);
  }

 private:
  const ClaimBook& book_;
};

}  // namespace

std::unique_ptr<const PlacingPlugin> MakeDynamicResources(const ClaimBook* claims) {
  return std::make_unique<DynamicResources>(claims);
}

}  // namespace schedq
