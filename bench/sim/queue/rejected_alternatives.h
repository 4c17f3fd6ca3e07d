// Designs that the proposals considered and rejected, to be measured beside the chosen ones.
//
// Purpose: experiments only. A recorded run cannot use them, because no trace can express them.
#pragma once

#include "engine/base/names/interner.h"
#include "hints/plugin.h"

namespace schedq {

struct RejectedAlternatives {
  // KEP-6132: a claim's event is narrowed to the pod in the claim's OwnerReference.
  bool narrows_by_owner = false;
  // KEP-5142: the number of pods that move from backoff to active when active is empty at the flush
  // of a second, in the order of their pops. 0: none. It has an effect only with the gate off.
  int flushed_when_empty = 0;

  bool any() const { return narrows_by_owner || flushed_when_empty > 0; }
};

// The PreQueueingHint of narrows_by_owner. Claims without an owner concern all pods, and so do
// claims that release devices. `pod_names` must outlive the result.
PreQueueingHintFunction PodOwningClaim(const Interner* pod_names);

// The plugin with PodOwningClaim in place of every PreQueueingHint for ResourceClaims.
Plugin NarrowedByOwner(Plugin plugin, const Interner* pod_names);

}  // namespace schedq
