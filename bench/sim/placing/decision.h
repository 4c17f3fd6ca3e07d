// What an attempt to place a pod comes to: a node with the devices of the pod's claims, or the
// plugins that rejected, and what PostFilter made of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/devices/allocation.h"

namespace schedq {

// The decision about one of the pod's claims.
struct ClaimDecision {
  std::string claim;                         // "namespace/name"
  bool has_finalizer = false;                // It keeps the claim while it is allocated.
  DeviceAllocationRef allocation = nullptr;  // Null: the claim is allocated already.
  // What a claim for extended resources asks for, which the scheduler makes; null: it is there.
  std::shared_ptr<const ClaimSpec> made = nullptr;
  bool tells_pod = false;  // The pod's status is to name the claim.
  // The group for which the claim is reserved, "namespace/name"; empty: it is for the pod.
  std::string group = {};
  bool is_reserved = false;  // It is so already.
  // Of the pod, "namespace/name"; empty: it has none.
  std::string pod_group = {};
  // The cycle of the group in which the pod was placed; 0: none.
  uint64_t group_cycle = 0;
  bool awaits_devices = false;  // They have binding conditions.

  // The group whose members share what one of them is promised; empty: nobody does.
  const std::string& sharers() const { return group.empty() ? pod_group : group; }
  bool allocates() const { return allocation != nullptr; }
  // The calls that store it, in this order: a claim that the scheduler makes is created, the
  // finalizer is set, allocation and reservation are stored, and the pod is told of a claim that
  // the scheduler has made.
  bool creates() const { return made != nullptr; }
  bool finalizes() const { return allocates() && !has_finalizer; }
  size_t steps() const {
    if (is_reserved) return 0;
    return size_t{1} + (creates() ? 1 : 0) + (finalizes() ? 1 : 0) + (tells_pod ? 1 : 0);
  }
};

// What is to be stored of the pod's volumes before it is bound.
struct VolumeDecision {
  struct Binding {
    std::string claim;  // "namespace/name"
    std::string volume;
  };

  std::vector<Binding> bindings;
  std::vector<std::string> to_provision;  // Claims for which a volume is to be made.
};

// What PostFilter says of a pod that no node takes.
struct PostFilterResult {
  std::string node;                    // The pod is nominated to it; empty: to none.
  std::vector<ClusterPodRef> victims;  // Pods of that node that are to be deleted.
  size_t violations = 0;               // Of them: more than disruption budgets allow.
  // It was nominated before, and its victims are still going: the nomination stays.
  bool victims_are_going = false;
};

// What became of the nodes that an earlier pod's search left.
enum class Sharing : uint8_t {
  kNone,     // Nothing: the pod shares no search.
  kNoHint,   // There were none.
  kUsed,     // The pod went to the best of them.
  kNotUsed,  // The best of them did not pass.
};

struct Decision {
  std::string node;   // Empty: no node is feasible.
  uint32_t slot = 0;  // Of that node, in the ledger.
  uint64_t node_version = 0;
  uint32_t assumption = 0;  // Set by SchedulerCache::Assume.
  // Without a node, or when Permit has rejected: bits of the plugins that did (framework.h).
  uint64_t rejectors = 0;
  size_t nodes_looked_at = 0;
  Sharing sharing = Sharing::kNone;
  // Without a node: another thread took what was found, or what was to be preempted has changed.
  // The attempt is to be decided anew.
  bool was_overtaken = false;
  std::vector<ClaimDecision> claims = {};
  // Without a node: a claim that nobody else uses and that keeps the pod from nodes. It gives up
  // its devices, "namespace/name"; empty: there is none.
  std::string idle_claim = {};
  std::shared_ptr<const VolumeDecision> volumes = nullptr;  // Null: there is nothing to bind.
  std::shared_ptr<const PostFilterResult> post_filter;      // Null: PostFilter has nothing to say.

  bool preempts() const { return post_filter != nullptr && !post_filter->victims.empty(); }
};

// Victims of it could not be deleted: the pod goes nowhere, and an earlier nomination stays.
inline void KeepNomination(Decision* decision) {
  auto kept = std::make_shared<PostFilterResult>(*decision->post_filter);
  kept->node.clear();
  kept->victims_are_going = true;
  decision->post_filter = std::move(kept);
}

}  // namespace schedq
