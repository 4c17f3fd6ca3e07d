// Whether an event is narrowed: its plugins' pre-hints are asked which pods it may concern.
// Threads: any.
#pragma once

#include "engine/event.h"
#include "engine/gates.h"
#include "engine/object.h"

namespace schedq {

// A pod that a pre-hint lists does not lead to the root of a tree of groups, so with trees nothing
// is narrowed.
inline bool IsNarrowed(const Gates& gates, const ClusterEvent& event, const ObjectChange& change) {
  return gates.PreQueueingHints() && !event.IsWildcard() && !gates.CompositePodGroup() &&
         (change.before != nullptr || change.after != nullptr);
}

}  // namespace schedq
