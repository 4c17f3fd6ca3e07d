// Whether a pod may be on a node: the filters that depend on nothing but these two. More of them
// are in hints/plugins, which ask the same of a node that changes.
// Threads: pure functions.
#pragma once

#include <cstdint>

#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

// Whether the pod tolerates nodes that are marked unschedulable.
bool ToleratesCordon(const Pod& pod);
// The taints of the node that only discourage (PreferNoSchedule) and that the pod does not
// tolerate.
int64_t DiscouragingTaints(const Pod& pod, const ObjectView& node);

}  // namespace schedq
