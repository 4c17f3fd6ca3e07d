// Functions that the plugins with ResourceClaims share.
#pragma once

#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/world.h"

namespace schedq {

// The change takes devices back from a claim: it lost its allocation, or was deleted with one.
bool FreesDevices(const ObjectChange& change);

// The pod's spec names the claim, in the pod's namespace.
bool NamesClaim(const Pod& pod, const ObjectView& claim);
// The spec names it, or the status says that it was generated for the pod.
bool UsesClaim(const Pod& pod, const ObjectView& claim);

// The PreQueueingHint of a plugin whose hint answers Skip for pods that do not use the claim,
// unless devices became free. For a claim that no live pod uses yet it lists no pod, which is
// right: a pod's own update requeues it. `world` must outlive the result.
PreQueueingHintFunction PodsOfClaim(const World* world);

}  // namespace schedq
