#include "bench/sim/calls/claim_storage.h"

namespace schedq {

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

}  // namespace schedq
