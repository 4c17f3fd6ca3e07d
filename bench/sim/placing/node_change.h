// What would be different on a node: pods that go, and pods that come.
//
// Purpose: preemption asks whether a node would pass without some of its pods, and a nomination
// whether it would pass with pods that have not come yet.
// Threads: one.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/amounts_by_kind.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

class NodeChange {
 public:
  // A pod of the node goes, and is put back. The demand is the pod's.
  void Take(const ClusterPodRef& pod, const NodeDemand& demand);
  void PutBack(const ClusterPodRef& pod, const NodeDemand& demand);
  // A pod comes.
  void Add(const ClusterPodRef& pod, const NodeDemand& demand);

  bool empty() const { return gone_.empty() && added_.empty(); }
  const std::vector<ClusterPodRef>& gone() const { return gone_; }
  const std::vector<ClusterPodRef>& added() const { return added_; }
  // What is free afterwards and was not before; below 0 where more is taken.
  int64_t freed(ResourceKind kind) const { return freed_.Of(kind); }

 private:
  std::vector<ClusterPodRef> gone_;
  std::vector<ClusterPodRef> added_;
  AmountsByKind freed_;
};

}  // namespace schedq
