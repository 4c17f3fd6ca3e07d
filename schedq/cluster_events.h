// From two versions of an object to what the scheduling queue has to hear of it.
#pragma once

#include <vector>

#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {

// What changed of a node, as events, in the order in which upstream sends them.
std::vector<ClusterEvent> NodeUpdateEvents(const ObjectView& before, const ObjectView& after);

// A pod that is assigned to a node, as hints see it. Null for null.
ObjectRef AssignedPodView(const PodRef& pod);

// A pod that is assigned to none yet, as hints see it. Null for null.
ObjectRef UnscheduledPodView(const PodRef& pod);
// A group object, as hints see it. Null for null.
ObjectRef GroupView(const PodGroupRef& group);

// Add without a `before`, Delete without an `after`, else Update.
Action ActionOf(const ObjectChange& change);

}  // namespace schedq
