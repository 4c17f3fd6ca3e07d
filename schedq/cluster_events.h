// From two versions of an object to what the scheduling queue has to hear of it.
#pragma once

#include <functional>
#include <string>
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
// The same of a pod that was on its way to that node, which no version of it names.
ObjectRef AssumedPodView(const Pod& pod, const std::string& node);

// Of the end of a nomination: the pods from which it kept room, which are those of its pod's
// priority or a lower one.
std::function<bool(const Pod&)> MayTakeRoomOf(const Pod& nominated);

// A pod that is assigned to none yet, as hints see it. Null for null.
ObjectRef UnscheduledPodView(const PodRef& pod);
// A group object, as hints see it. Null for null.
ObjectRef GroupView(const PodGroupRef& group);

// Add without a `before`, Delete without an `after`, else Update.
Action ActionOf(const ObjectChange& change);

}  // namespace schedq
