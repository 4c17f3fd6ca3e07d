// What the simulated scheduler knows of the cluster, and what it has decided but the cluster has
// not confirmed yet.
//
// Purpose: nodes, pods on them, claims and devices as the informers told, plus the pods that are
// assumed to be on their node and the devices that are promised to their claims while their binding
// is under way.
// Threads: one, that which advances the clock.
// Invariants:
//  1. A device is promised or allocated to at most one claim.
//  2. A claim is promised by at most one pod at a time; others that need it wait.
//  3. A pod that is assumed counts on its node until the cluster says where it is or Forget.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/device_inventory.h"
#include "bench/sim/scheduler/node_table.h"

namespace schedq {

// What a pod's attempt means for one of its claims.
struct ClaimDecision {
  std::string claim;       // "namespace/name"
  bool allocates = false;  // Else it is allocated already.
  std::vector<DeviceName> devices;
};

// Where a pod goes, or why it goes nowhere.
struct Decision {
  std::string node;        // Empty: nowhere.
  uint32_t obstacles = 0;  // Bits of Obstacle.
  size_t nodes_looked_at = 0;
  std::vector<ClaimDecision> claims;
};

class SchedulerCache {
 public:
  // A change of anything but an unassigned pod.
  void Apply(const ClusterChange& change);

  // Changes nothing.
  Decision Decide(const ClusterPod& pod) const;

  // Counts the pod on its node and promises its devices.
  void Assume(const ClusterPod& pod, const Decision& decision);
  bool IsAssumed(uint64_t pod_number) const { return assumed_.count(pod_number) != 0; }
  // The pod will not be bound: takes back what was promised. The first `stored` claims of its
  // decision have their devices in the cluster; their promise ends when the informers say so.
  void Forget(uint64_t pod_number, const Decision& decision, size_t stored);

 private:
  struct Wanted {
    std::vector<const ClusterClaim*> unallocated;
    std::vector<std::string> allocated;
    std::string only_node;  // Where the allocated ones are.
  };

  void ApplyPod(const ClusterChange& change);
  void ApplyClaim(const ClusterChange& change);
  // nullopt: a claim is missing, promised to another pod, or they are on different nodes.
  std::optional<Wanted> ClaimsOf(const ClusterPod& pod) const;

  NodeTable nodes_;
  DeviceInventory devices_;
  std::unordered_map<std::string, ClusterClaimRef> claims_;
  std::unordered_map<std::string, std::vector<DeviceName>> promised_;  // By claim.
  std::unordered_set<uint64_t> assumed_;
};

// How many of `nodes` an attempt looks at until it has found enough feasible ones: all below 100,
// else between 50 % and 5 %, fewer in larger clusters, but at least 100.
size_t NodesToFind(size_t nodes);

}  // namespace schedq
