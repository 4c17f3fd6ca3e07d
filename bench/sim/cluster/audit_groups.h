// Checks after a run that groups of pods are where they may be: a gang has as many members as it
// needs or none, a tree of groups as many groups as it needs or none, and a group with a topology
// constraint is in one domain.
//
// What a deletion, a preemption or an outage has taken apart is left out. Pods that were created
// with a node count for their group, but no scheduler placed them: they are to blame for nothing.
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "bench/sim/cluster/audit.h"
#include "bench/sim/cluster/cluster.h"

namespace schedq {

// Adds one line a fault. Only where groups are known.
void AuditGroups(const Cluster& cluster, const AuditQuestions& questions,
                 std::vector<std::string>* faults);

}  // namespace schedq
