// Which pods are on each node, as the informers delivered them: among these preemption chooses.
//
// A pod that is only assumed is not here: its node holds room for it that no preemption takes.
// Threads: any, under one lock. Set and Remove by the thread that delivers pods; the others by
// scheduling threads, only for a pod that no node takes.
// Invariant: a pod is on one node at most.
// Memory: a reference a pod with a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

class PodsByNode {
 public:
  // `slot` is the node's in the ledger. A version that is there is replaced.
  void Set(uint32_t slot, const ClusterPodRef& pod);
  void Remove(uint32_t slot, const ClusterPod& pod);

  std::vector<ClusterPodRef> All() const;
  // With the lock held.
  void ForEach(const std::function<void(uint32_t slot, const ClusterPodRef& pod)>& visit) const;

  // Whether any node has a pod below that priority.
  bool HasBelow(int32_t priority) const;
  // The node's pods below that priority, those that are being deleted among them.
  std::vector<ClusterPodRef> Below(uint32_t slot, int32_t priority) const;
  // Whether a pod of the node below that priority is being deleted.
  bool IsAnyGoing(uint32_t slot, int32_t priority) const;

 private:
  mutable std::mutex mutex_;  // Guards both.
  std::vector<std::vector<ClusterPodRef>> by_slot_;
  std::map<int32_t, size_t> by_priority_;  // How many.
};

}  // namespace schedq
