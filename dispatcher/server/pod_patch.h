// What a status patch does to a pod on the server, whichever server it is.
// Threads: pure.
#pragma once

#include <string_view>

#include "dispatcher/api_call.h"
#include "engine/pod.h"

namespace schedq {

// The condition's reason where an attempt to schedule the pod failed.
inline constexpr std::string_view kUnschedulableReason = "Unschedulable";

// Changes the condition and the nominated node as the patch says, unless the pod is bound. False:
// all of it was so already. Claims are the server's own.
bool ApplyPatch(const ApiCall& patch, Pod* pod);

// The pod is as if it had never been found unschedulable.
void RemoveScheduledCondition(Pod* pod);

}  // namespace schedq
