// Stores a claim's allocation and reservation in the cluster, as the last step before a binding.
#pragma once

#include <string>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"

namespace schedq {

// The API server's version decides. False: the claim is deleted or allocated elsewhere, the pod
// is deleted, or the API server is out.
bool StoreClaim(Cluster* cluster, const ClaimDecision& claim, const ClusterPod& pod,
                const std::string& node);

}  // namespace schedq
