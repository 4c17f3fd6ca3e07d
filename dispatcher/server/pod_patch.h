// What a status patch does to a pod on a server, the same for every server.
// Threads: pure.
#pragma once

#include <string_view>

#include "dispatcher/api_call.h"
#include "engine/pod.h"

namespace schedq {

// The condition's reason after a failed attempt to schedule the pod.
inline constexpr std::string_view kUnschedulableReason = "Unschedulable";

// Changes the condition and the nominated node as the patch says, unless the pod is bound. False:
// nothing changed. Claims are left to the server.
bool ApplyPatch(const ApiCall& patch, Pod* pod);

// Removes the condition PodScheduled, whatever its status.
void RemoveScheduledCondition(Pod* pod);

}  // namespace schedq
