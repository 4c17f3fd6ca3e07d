#include "hints/plugins/claim_hints.h"

#include <algorithm>

namespace schedq {

bool FreesDevices(const ObjectChange& change) {
  if (change.before == nullptr || !change.before->allocated) return false;
  return change.after == nullptr || !change.after->allocated;
}

bool NamesClaim(const Pod& pod, const ObjectView& claim) {
  return pod.namespace_name == claim.namespace_name &&
         std::find(pod.claims.begin(), pod.claims.end(), claim.name) != pod.claims.end();
}

PreQueueingHintFunction PodsOfClaim(const World* world) {
  return [world](const ObjectChange& change, PodList* pods) {
    const ObjectView* claim = change.Latest();
    if (claim == nullptr || claim->resource != Resource::kResourceClaim) return PreHint::kAllPods;
    if (FreesDevices(change)) return PreHint::kAllPods;
    world->claim_index().Lookup(claim->namespace_name, claim->name,
                                [&](PodId pod) { pods->push_back(pod); });
    return PreHint::kListed;
  };
}

}  // namespace schedq
