// Checks after a run that no pod is on a node that its rules, or those of others, forbid: host
// ports, node affinity, affinity and anti-affinity between pods, topology spread.
//
// It judges what must hold at the end of a run because it held when each pod was placed. Pods and
// nodes whose labels or taints have changed since are left out, and so are pods that were created
// with a node: no scheduler placed them. What depends on pods that may have gone, required affinity
// and spread, is judged only where no pod or node was ever deleted, no node came after a pod, and
// nothing is left out; spread also only among pods that all have the rule, for others may lie as
// they like.
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"

namespace schedq {

// Adds one line a fault.
void AuditRules(const Cluster& cluster, std::vector<std::string>* faults);

}  // namespace schedq
