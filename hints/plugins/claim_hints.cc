#include "hints/plugins/claim_hints.h"

#include <algorithm>

namespace schedq {

bool FreesDevices(const ObjectChange& change) {
  if (change.before == nullptr || !change.before->allocated) return false;
  return change.after == nullptr || !change.after->allocated;
}

// Names differ more often than namespaces, and a pod's claims lie together: look there first.
bool NamesClaim(const Pod& pod, const ObjectView& claim) {
  return std::find(pod.claims.begin(), pod.claims.end(), claim.name) != pod.claims.end() &&
         pod.namespace_name == claim.namespace_name;
}

bool UsesClaim(const Pod& pod, const ObjectView& claim) {
  if (NamesClaim(pod, claim)) return true;
  return std::any_of(pod.generated_claims.begin(), pod.generated_claims.end(),
                     [&](const GeneratedClaim& used) { return used.claim_name == claim.name; }) &&
         pod.namespace_name == claim.namespace_name;
}

PreQueueingHintFunction PodsOfClaim(const World* world) {
  return [world](const ObjectChange& change, PodList* pods) {
    const ObjectView* claim = change.Latest();
    if (claim == nullptr || claim->resource != Resource::kResourceClaim) return PreHint::kAllPods;
    if (FreesDevices(change)) return PreHint::kAllPods;
    world->claim_index().Lookup(claim->namespace_name, claim->name, pods);
    return PreHint::kListed;
  };
}

}  // namespace schedq
