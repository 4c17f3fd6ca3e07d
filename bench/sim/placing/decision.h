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
  std::string node;        // Empty: no node is feasible.
  uint32_t slot = 0;       // Of that node, in the ledger.
  uint32_t rejectors = 0;  // Without a node: bits of the plugins that rejected (placing_plugin.h).
  size_t nodes_looked_at = 0;
  std::vector<ClaimDecision> claims;
};

}  // namespace schedq
