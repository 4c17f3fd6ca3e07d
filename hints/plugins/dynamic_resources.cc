// DynamicResources: a pod needs its ResourceClaims, and the devices that they ask for.
//
// PreEnqueue: a pod waits while a claim that its spec names does not exist, or one that is to be
// generated from a template has not been generated or does not exist yet.
// The pod's owner is told only of the claims that the spec names, because somebody has to create
// them. The control plane creates those from templates.
// Worth another attempt: one of the pod's claims appears or its status changes, once all of its
// claims exist; a claim gives up its devices; nodes, classes or slices bring devices.
// Left out: the owner of a generated claim, and claims that are being deleted.
#include <string>
#include <string_view>

#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/claim_hints.h"
#include "hints/world.h"

namespace schedq {
namespace {

bool Exists(const World& world, const Pod& pod, const std::string& claim, std::string* message) {
  if (world.claim_index().Exists(pod.namespace_name, claim)) return true;
  if (message != nullptr) {
    *message = "waiting for ResourceClaim \"" + claim + "\" to be created";
  }
  return false;
}

// The claim that stands for an entry of the spec; null: not generated yet.
const GeneratedClaim* FindGenerated(const Pod& pod, const std::string& entry) {
  for (const GeneratedClaim& generated : pod.generated_claims) {
    if (generated.pod_claim_name == entry) return &generated;
  }
  return nullptr;
}

bool NamedClaimsExist(const World& world, const Pod& pod, std::string* message) {
  for (const std::string& claim : pod.claims) {
    if (!Exists(world, pod, claim, message)) return false;
  }
  return true;
}

bool AllClaimsExist(const World& world, const Pod& pod, std::string* message) {
  if (!NamedClaimsExist(world, pod, message)) return false;
  for (const std::string& entry : pod.claim_templates) {
    if (FindGenerated(pod, entry) != nullptr) continue;
    if (message != nullptr) {
      *message = "waiting for the ResourceClaim of \"" + entry + "\" to be generated";
    }
    return false;
  }
  for (const GeneratedClaim& generated : pod.generated_claims) {
    // An empty name means that this entry needed no claim.
    if (generated.claim_name.empty()) continue;
    if (!Exists(world, pod, generated.claim_name, message)) return false;
  }
  return true;
}

Hint AfterClaimChange(const World& world, const Pod& pod, const ObjectChange& change) {
  if (change.Latest() == nullptr) return Hint::kError;
  const ObjectView* before = change.before.get();
  const ObjectView* after = change.after.get();
  if (after == nullptr) return before->allocated ? Hint::kQueue : Hint::kSkip;
  if (!FreesDevices(change)) {
    // Almost every pod of a storm ends here, so this is asked before whether the claims exist.
    if (!UsesClaim(pod, *after)) return Hint::kSkip;
    const bool same_status = before != nullptr && before->allocated == after->allocated &&
                             before->status_version == after->status_version;
    if (same_status) return Hint::kSkip;
  }
  // While another claim is missing an attempt would fail, and its creation will be an event too.
  return AllClaimsExist(world, pod, nullptr) ? Hint::kQueue : Hint::kSkip;
}

Hint AfterOwnClaimGenerated(const World& world, const ObjectChange& change) {
  if (change.after == nullptr || change.after->pod == nullptr) return Hint::kError;
  return AllClaimsExist(world, *change.after->pod, nullptr) ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

Plugin DynamicResourcesPlugin(const World* world) {
  Plugin plugin;
  plugin.name = "DynamicResources";
  plugin.rejection_message =
      "no node can provide the devices that the pod's ResourceClaims ask for";
  plugin.pre_enqueue = [world](const Pod& pod, std::string* message) {
    return AllClaimsExist(*world, pod, message);
  };
  plugin.user_message = [world](const Pod& pod, std::string_view) {
    std::string text;
    NamedClaimsExist(*world, pod, &text);
    return text;
  };
  plugin.events = {
      {Resource::kNode,
       Action::kAdd | Action::kUpdateNodeLabel | Action::kUpdateNodeAllocatable,
       {},
       {}},
      {Resource::kResourceClaim, Action::kAdd | Action::kUpdate | Action::kDelete,
       [world](const Pod& pod, const ObjectChange& change) {
         return AfterClaimChange(*world, pod, change);
       },
       PodsOfClaim(world)},
      {Resource::kTargetPod,
       Action::kUpdatePodGeneratedResourceClaim,
       [world](const Pod&, const ObjectChange& change) {
         return AfterOwnClaimGenerated(*world, change);
       },
       {}},
      {Resource::kDeviceClass, Action::kAdd | Action::kUpdate, {}, {}},
      {Resource::kResourceSlice, Action::kAdd | Action::kUpdate, {}, {}},
  };
  return plugin;
}

}  // namespace schedq
