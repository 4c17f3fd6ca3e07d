// Checks a cluster after a run: no node overcommitted, no device given twice, no pod lost.
//
// Threads: one. It reads only what the API server stores, so a scheduler whose own books are wrong
// is found out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"

namespace schedq {

// One line a fault, in the order of the objects; empty: all is well. `is_known` says whether the
// scheduler still has the pod, which is neither bound nor being deleted, somewhere: in a queue, in
// flight, or on its way to a node.
std::vector<std::string> AuditCluster(const Cluster& cluster,
                                      const std::function<bool(const ClusterPod&)>& is_known);

}  // namespace schedq
