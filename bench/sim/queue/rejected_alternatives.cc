#include "bench/sim/queue/rejected_alternatives.h"

#include "bench/sim/cluster/cluster_objects.h"
#include "engine/object.h"
#include "hints/plugins/claim_hints.h"

namespace schedq {

PreQueueingHintFunction PodOwningClaim(const Interner* pod_names) {
  return [pod_names](const ObjectChange& change, PodList* pods) {
    if (change.Latest() == nullptr || FreesDevices(change)) return PreHint::kAllPods;
    const auto& claim = static_cast<const ClusterClaim&>(*change.Latest());
    if (claim.owner_pod_name.empty()) return PreHint::kAllPods;
    const auto owner = pod_names->Find(claim.namespace_name, claim.owner_pod_name);
    if (owner) pods->push_back(*owner);
    return PreHint::kListed;
  };
}

Plugin NarrowedByOwner(Plugin plugin, const Interner* pod_names) {
  for (EventRegistration& registration : plugin.events) {
    const bool is_claims = registration.resource == Resource::kResourceClaim;
    if (is_claims && registration.pre_hint) registration.pre_hint = PodOwningClaim(pod_names);
  }
  return plugin;
}

}  // namespace schedq
