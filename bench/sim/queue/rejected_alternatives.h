// Ways of doing it that the proposals considered and rejected, to be run beside what they chose.
//
// Purpose: experiments only; a run that is recorded cannot use them, because no trace can say what
// they do.
#pragma once

#include "engine/base/names/interner.h"
#include "hints/plugin.h"

namespace schedq {

struct RejectedAlternatives {
  // KEP-6132: a claim's event is narrowed to the pod in the claim's OwnerReference.
  bool narrows_by_owner = false;
  // KEP-5142: when active is empty at the flush of each second, so many pods move there from
  // backoff, those that would be popped first. 0: none. Means something with the gate off only.
  int flushed_when_empty = 0;

  bool any() const { return narrows_by_owner || flushed_when_empty > 0; }
};

// The PreQueueingHint of narrows_by_owner. Claims without an owner concern all pods, and so do
// claims that give devices back. `pod_names` must outlive the result.
PreQueueingHintFunction PodOwningClaim(const Interner* pod_names);

// The plugins with it in place of every PreQueueingHint for ResourceClaims.
Plugin NarrowedByOwner(Plugin plugin, const Interner* pod_names);

}  // namespace schedq
