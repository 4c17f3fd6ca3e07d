// Pods that are preempted together: one pod, or all placed members of a group that is disrupted as
// one.
//
// Threads: any; pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/groups/group_book.h"

namespace schedq {

struct VictimUnit {
  std::vector<ClusterPodRef> pods;
  int32_t priority = 0;
  int rank = 0;           // A composite before a group or a member of one before any other pod.
  uint64_t oldest = 0;    // The lowest number of its pods.
  size_t violations = 0;  // Of its pods: each would violate a disruption budget.
};

// The units of these pods, as far as their priority is below; each unit once. Null `groups`: each
// pod is one, with its own priority.
std::vector<VictimUnit> UnitsBelow(const std::vector<ClusterPodRef>& pods, int32_t priority,
                                   const GroupBook* groups);

// Higher priority first, then rank, then more pods, then age.
bool IsMoreImportant(const VictimUnit& a, const VictimUnit& b);

// Counts, in the order of the units, whose end would be more than a budget allows, and puts these
// units before the others. A unit violates a budget as a whole where one of its pods does.
void PutViolatingFirst(std::vector<VictimUnit>* units,
                       const std::vector<ClusterBudgetRef>& budgets);

// Whether the unit's first pod is one of these.
bool IsAmong(const VictimUnit& unit, const std::vector<ClusterPodRef>& pods);

// All pods of the units, in their order.
std::vector<ClusterPodRef> PodsOf(const std::vector<VictimUnit>& units);

}  // namespace schedq
