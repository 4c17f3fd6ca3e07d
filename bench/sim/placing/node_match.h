// Whether a pod may be on a node: the filters that depend on nothing but these two.
// Threads: pure functions.
#pragma once

#include "bench/sim/cluster/cluster_objects.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

// Whether the pod tolerates nodes that are marked unschedulable.
bool ToleratesCordon(const Pod& pod);
// Whether the pod tolerates every taint of the node that rejects pods (PreferNoSchedule does not).
bool ToleratesTaints(const Pod& pod, const ObjectView& node);
// Whether the node has the labels of the pod's selector, and meets one of its required terms if
// there are any.
bool MatchesAffinity(const ClusterPod& pod, const ObjectView& node);

}  // namespace schedq
