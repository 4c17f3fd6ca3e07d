// What an attempt to place a pod comes to: a node with the devices of the pod's claims, or the
// plugins that rejected, and what PostFilter made of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

// What PostFilter says of a pod that no node takes.
struct PostFilterResult {
  std::string node;                    // The pod is nominated to it; empty: to none.
  std::vector<ClusterPodRef> victims;  // Pods of that node that are to be deleted.
  // It was nominated before, and its victims are still going: the nomination stays.
  bool victims_are_going = false;
};

struct Decision {
  std::string node;   // Empty: no node is feasible.
  uint32_t slot = 0;  // Of that node, in the ledger.
  uint64_t node_version = 0;
  uint32_t assumption = 0;  // Set by SchedulerCache::Assume.
  // Without a node, or when Permit has rejected: bits of the plugins that did (framework.h).
  uint64_t rejectors = 0;
  size_t nodes_looked_at = 0;
  // Without a node: another thread took what was found, or what was to be preempted has changed.
  // The attempt is to be decided anew.
  bool was_overtaken = false;
  std::vector<ClaimDecision> claims;
  std::shared_ptr<const PostFilterResult> post_filter;  // Null: PostFilter has nothing to say.
};

}  // namespace schedq
