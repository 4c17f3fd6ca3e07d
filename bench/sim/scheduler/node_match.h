// May the pod be on the node at all? The filters that look at nothing but the two.
// Threads: pure functions.
#pragma once

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

// The pod tolerates nodes that are marked unschedulable.
bool ToleratesCordon(const Pod& pod);
// It tolerates every taint that keeps pods away (PreferNoSchedule does not).
bool ToleratesTaints(const Pod& pod, const ObjectView& node);
// The node has the labels of the selector, and meets one of the required terms if there are any.
bool MatchesAffinity(const ClusterPod& pod, const ObjectView& node);

}  // namespace schedq
