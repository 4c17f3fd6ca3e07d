// The scheduler's knowledge of claims and devices, and the devices that it has promised.
//
// Purpose: what the informers delivered, and on top of it the promises of pods that are on their
// way to a node: the cluster knows of those only when their claims are stored.
// Threads: all functions from any thread, under one lock. Only pods with claims meet it.
// Invariants:
//  1. A device is promised or allocated to at most one claim.
//  2. At most one pod at a time has a promise for a claim; other pods that need the claim wait.
// Memory: a record a claim and a device.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/device_inventory.h"
#include "bench/sim/placing/decision.h"

namespace schedq {

// The claims of a pod, as the book had them.
struct WantedClaims {
  std::vector<ClusterClaimRef> unallocated;
  std::vector<std::string> allocated;
  std::string only_node;  // The node of the allocated claims; empty: there are none.
};

class ClaimBook {
 public:
  // A claim, slice or class that the informers delivered.
  void Apply(const ClusterChange& change);

  // nullopt: a claim is missing or promised to another pod, or claims are on different nodes.
  std::optional<WantedClaims> WantedBy(const ClusterPod& pod) const;
  bool HasDevicesFor(const WantedClaims& wanted, const std::string& node) const;
  // The decision about each claim, with devices of the node; nullopt: they are gone meanwhile.
  std::optional<std::vector<ClaimDecision>> Pick(const WantedClaims& wanted,
                                                 const std::string& node) const;

  // Promises the devices of the claims that the decision allocates. False: a device or a claim is
  // promised or allocated to another pod meanwhile, and nothing has changed.
  bool Promise(std::span<const ClaimDecision> claims);
  // Ends the promises for these claims.
  void Release(std::span<const ClaimDecision> claims);

 private:
  void ApplyClaim(const ClusterChange& change);

  mutable std::mutex mutex_;  // Guards all members.
  DeviceInventory devices_;
  std::unordered_map<std::string, ClusterClaimRef> claims_;
  std::unordered_map<std::string, std::vector<DeviceName>> promised_;  // By claim.
};

}  // namespace schedq
