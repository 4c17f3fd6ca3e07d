// The scheduler's knowledge of claims and devices, and the devices that it has promised.
//
// Purpose: what the informers delivered, and on top of it the promises of pods that are on their
// way to a node: the cluster knows of those only when their claims are stored.
// Threads: all functions from any thread, under one lock. Only pods with claims meet it.
// Invariants:
//  1. A device is promised or allocated once, or as often as its capacity allows.
//  2. At most one pod at a time has a promise for a claim, or pods of one group that one cycle
//     places; other pods that need the claim wait.
// Memory: a record a claim and a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/format/workload/device_features.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/device_inventory.h"
#include "bench/sim/devices/prepared_claims.h"
#include "bench/sim/placing/decision.h"
#include "engine/object.h"

namespace schedq {

// The claims of a pod, as the book had them, and what an attempt finds out about them.
struct WantedClaims {
  struct Allocated {
    ClusterClaimRef claim;
    // Its own, or what another pod of the group was promised for it.
    DeviceAllocationRef allocation;
  };
  std::vector<ClusterClaimRef> unallocated;
  std::vector<Allocated> allocated;
  std::string group;  // Of the pod: "namespace/name".
  uint64_t group_cycle = 0;
  std::vector<std::string> of_group;  // Names of claims that are the group's.
  PreparedClaims prepared;  // The unallocated ones, and then the one for extended resources.
  // What the pod's extended resources ask for; null: it has none.
  std::shared_ptr<const ClaimSpec> extended;
  std::string extended_name;  // "namespace/name" of the claim for them.

  // By allocated claim: its devices do not become ready for the pod to be bound.
  std::vector<bool> is_stuck;
  // The only nodes on which the unallocated ones can get devices, where these are known.
  std::optional<std::vector<std::string>> nodes;
  std::optional<std::vector<uint32_t>> slots;  // Where the columns have these.
  std::vector<bool> keeps_away;  // By allocated claim: a node was out of its reach, or it is stuck.
  // By node: what it would give. Kept while the book does not change.
  std::unordered_map<std::string, AllocationOutcome> offers;
  uint64_t version = 0;  // Of the book, for the offers.
  std::string error;     // Why the attempt fails as a whole; empty: it goes on.

  // The first claim that kept the pod from a node and is not used by others; empty: there is none.
  std::string IdleClaim(const ClusterPod& pod) const;
};
using WantedClaimsRef = std::shared_ptr<WantedClaims>;

class ClaimBook {
 public:
  explicit ClaimBook(const DeviceFeatures& features = {}) : devices_(features) {}

  // A claim, slice, class or rule about taints that the informers delivered.
  void Apply(const ClusterChange& change);

  // The number of a cycle of a group, whose members may share what one of them is promised.
  uint64_t BeginGroupCycle();
  // Null: a claim is missing or promised to another pod, or its class is missing. `group_cycle` is
  // the one in which the pod is placed; 0: none.
  WantedClaimsRef WantedBy(const ClusterPod& pod, uint64_t group_cycle = 0);
  // What the node would give for the unallocated ones.
  const AllocationOutcome& OfferOf(WantedClaims* wanted, const ObjectView& node);
  // The decision about each claim, with devices of the node; nullopt: they are gone meanwhile.
  std::optional<std::vector<ClaimDecision>> Pick(WantedClaims* wanted, const ObjectView& node);

  // Promises the devices of the claims that the decision allocates. False: a device or a claim is
  // promised or allocated to another pod meanwhile, and nothing has changed.
  bool Promise(std::span<const ClaimDecision> claims);
  // Ends the promise for the claim.
  void Release(const ClaimDecision& claim);

  // Of the devices for which the resource stands: how many the node reaches, and how many of these
  // are allocated or promised. Nothing where no class stands for it, or a selector fails.
  DeviceCount CountOf(const std::string& resource, const ObjectView& node);
  // Whether a class stands for the resource.
  bool StandsFor(const std::string& resource) const;

  // Devices that are allocated or promised.
  size_t taken() const;

 private:
  void ApplyClaim(const ClusterChange& change);
  // False: a resource has no class.
  bool AddExtended(const ClusterPod& pod, WantedClaims* wanted) const;
  void ReleaseUnderLock(const ClaimDecision& claim);
  const AllocationOutcome& OfferUnderLock(WantedClaims* wanted, const ObjectView& node);

  mutable std::mutex mutex_;  // Guards all members.
  DeviceInventory devices_;
  uint64_t version_ = 0;  // Changes with everything that offers depend on.
  uint64_t last_group_cycle_ = 0;
  std::unordered_map<std::string, ClusterClaimRef> claims_;
  struct Promised {
    DeviceAllocationRef allocation;
    std::string group;         // Whose members may have it too; empty: nobody.
    uint64_t group_cycle = 0;  // In this cycle only.
    uint32_t holders = 0;
  };
  std::unordered_map<std::string, Promised> promised_;  // By claim.
};

}  // namespace schedq
