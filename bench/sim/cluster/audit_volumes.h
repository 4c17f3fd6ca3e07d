// Checks after a run that volumes are where they may be: a volume and its claim name each other; a
// pod that a scheduler placed has its claims bound, to volumes that its node reaches; no node has
// more volumes of a driver than its CSINode says; no claim for one pod is mounted by two; no disk
// is given to a pod that conflicts with another.
//
// Nodes whose labels have changed since are left out, and pods that were created with a node; so
// are limits that came, or were lowered, after one of the pods was created.
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"

namespace schedq {

// Adds one line a fault.
void AuditVolumes(const Cluster& cluster, std::vector<std::string>* faults);

}  // namespace schedq
