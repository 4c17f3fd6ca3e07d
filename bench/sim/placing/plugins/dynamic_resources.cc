// A pod with claims goes to a node that has the devices of all of them.
//
// Reserve promises the devices, and PreBind stores each claim with them.
// A pod whose claim is missing, or is promised to another pod, fits nowhere for now. Claims that
// are allocated already are on one node, the only one for the pod.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"

namespace schedq {
namespace {

// Stores a claim's allocation and its reservation for the pod. The API server's version decides.
// False: the claim is deleted or allocated elsewhere, the pod is deleted, or the API server is out.
bool StoreClaim(Cluster* cluster, const ClaimDecision& claim, const ClusterPod& pod,
                const std::string& node) {
  if (cluster->IsOut()) return false;
  const ClusterClaimRef stored = cluster->FindClaim(claim.claim);
  if (stored == nullptr) return false;
  // A reservation for a pod that is gone would stay for ever.
  const ClusterPodRef owner = cluster->FindPod(pod.number);
  if (owner == nullptr || owner->deleting) return false;
  const std::string& where = stored->node_name;
  if (claim.allocates ? !where.empty() : where != node) return false;
  return cluster->UpdateClaim(claim.claim, [&](ClusterClaim* after) {
    if (claim.allocates) {
      after->devices = claim.devices;
      after->node_name = node;
    }
    after->reserved_for.push_back(pod.number);
  });
}

class DynamicResources final : public PlacingPlugin {
 public:
  explicit DynamicResources(ClaimBook* claims) : book_(*claims) {}

  std::string_view name() const override { return "DynamicResources"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kReserve,
                           ExtensionPoint::kPreBind);
  }

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

  bool Choose(const PlacingAttempt& attempt, Decision* decision) const override {
    if (!attempt.claims) return true;
    auto claims = book_.Pick(*attempt.claims, decision->node);
    if (!claims) return false;
    decision->claims = std::move(*claims);
    return true;
  }

  bool Reserve(const ClusterPod&, const Decision& decision) const override {
    return decision.claims.empty() || book_.Promise(decision.claims);
  }

  // The promises of claims that are stored end when the informers deliver these.
  void Unreserve(const ClusterPod&, const Decision& decision, size_t steps) const override {
    if (!decision.claims.empty()) book_.Release(std::span(decision.claims).subspan(steps));
  }

  size_t PreBindPreFlight(const Decision& decision) const override {
    return decision.claims.size();
  }

  bool PreBind(size_t step, Cluster* cluster, const ClusterPod& pod,
               const Decision& decision) const override {
    return StoreClaim(cluster, decision.claims[step], pod, decision.node);
  }

 private:
  ClaimBook& book_;
};

}  // namespace

PlacingPluginRef MakeDynamicResources(const PlacingTools& tools) {
  return std::make_unique<DynamicResources>(tools.claims);
}

}  // namespace schedq
