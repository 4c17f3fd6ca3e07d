// Checks a cluster after a run: no node is overcommitted, no device is allocated twice or was at
// any time, no bound pod is without its claim or the claim's reservation, no pod is where it must
// not be (audit_rules.h), no volume is (audit_volumes.h), no gang or tree of groups is partly
// bound, no group is outside of its topology domain (audit_groups.h), no pod is lost.
//
// It reads only the objects of the API server, so it finds a scheduler whose own cache is wrong.
// Threads: one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

// What only the scheduler knows.
struct AuditQuestions {
  // Whether it still has a pod that is neither bound nor being deleted: in a queue, in flight, or
  // in a binding. For a pod that the informers have not delivered yet the caller answers true.
  std::function<bool(const ClusterPod&)> is_known;
  // Whether such a pod is on its way to a node. Only asked where groups are known.
  std::function<bool(const ClusterPod&)> is_going = {};
  bool knows_groups = false;
  bool knows_composites = false;    // Trees of groups.
  bool places_by_topology = false;  // Groups with a topology constraint.
};

// Returns one line a fault, in the order of the objects.
std::vector<std::string> AuditCluster(const Cluster& cluster, const AuditQuestions& questions);

}  // namespace schedq
