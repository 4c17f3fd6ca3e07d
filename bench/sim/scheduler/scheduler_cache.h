// The simulated scheduler's knowledge of the cluster, and its decisions that the cluster has not
// confirmed yet.
//
// Purpose: nodes, their pods, claims and devices, as the informers delivered them. The cache adds
// the pods that are assumed on a node, and the devices that are promised to their claims, while a
// binding is under way.
// Threads: one, the one that advances the clock.
// Invariants:
//  1. A device is promised or allocated to at most one claim.
//  2. At most one pod at a time has a promise for a claim; other pods that need the claim wait.
//  3. An assumed pod counts on its node until the informers deliver its node, or until Forget.
#pragma once

#include <cstddef>
#include <cstdint>
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

// The decision of an attempt about one of the pod's claims.
struct ClaimDecision {
  std::string claim;       // "namespace/name"
  bool allocates = false;  // False: the claim is allocated already.
  std::vector<DeviceName> devices;
};

// The decision of an attempt: the pod's node, or the obstacles.
struct Decision {
  std::string node;        // Empty: no node is feasible.
  uint32_t obstacles = 0;  // Bits of Obstacle.
  size_t nodes_looked_at = 0;
  std::vector<ClaimDecision> claims;
};

class SchedulerCache {
 public:
  // Applies a change of any object except an unassigned pod.
  void Apply(const ClusterChange& change);

  // Decides without changing the cache.
  Decision Decide(const ClusterPod& pod) const;

  // Counts the pod on its node and promises its devices.
  void Assume(const ClusterPod& pod, const Decision& decision);
  bool IsAssumed(uint64_t pod_number) const { return assumed_.count(pod_number) != 0; }
  // Ends the promises for a pod that will not be bound. The first `stored` claims of its decision
  // have their devices in the cluster already; their promises end when the informers deliver them.
  void Forget(uint64_t pod_number, const Decision& decision, size_t stored);

 private:
  struct Wanted {
    std::vector<const ClusterClaim*> unallocated;
    std::vector<std::string> allocated;
    std::string only_node;  // The node of the allocated claims.
  };

  void ApplyPod(const ClusterChange& change);
  void ApplyClaim(const ClusterChange& change);
  // nullopt: a claim is missing or promised to another pod, or claims are on different nodes.
  std::optional<Wanted> ClaimsOf(const ClusterPod& pod) const;

  NodeTable nodes_;
  DeviceInventory devices_;
  std::unordered_map<std::string, ClusterClaimRef> claims_;
  std::unordered_map<std::string, std::vector<DeviceName>> promised_;  // By claim.
  std::unordered_set<uint64_t> assumed_;
};

// The number of feasible nodes after which an attempt stops its search: all of `nodes` below 100,
// else 50 % to 5 % of them, a smaller share in larger clusters, but at least 100.
size_t NodesToFind(size_t nodes);

}  // namespace schedq
