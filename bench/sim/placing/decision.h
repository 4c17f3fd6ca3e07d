// What an attempt to place a pod comes to: a node with the devices of the pod's claims, or the
// plugins that rejected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

// The decision about one of the pod's claims.
struct ClaimDecision {
  std::string claim;       // "namespace/name"
  bool allocates = false;  // False: the claim is allocated already.
  std::vector<DeviceName> devices;
};

struct Decision {
  std::string node;   // Empty: no node is feasible.
  uint32_t slot = 0;  // Of that node, in the ledger.
  uint64_t node_version = 0;
  uint32_t assumption = 0;  // Set by SchedulerCache::Assume.
  uint32_t rejectors = 0;   // Without a node: bits of the plugins that rejected (placing_plugin.h).
  size_t nodes_looked_at = 0;
  // Without a node: another thread took what was found. The attempt is to be decided anew.
  bool was_overtaken = false;
  std::vector<ClaimDecision> claims;
};

}  // namespace schedq
