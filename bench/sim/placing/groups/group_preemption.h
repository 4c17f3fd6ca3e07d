// Which pods would have to go so that a group gets what it needs, as kube-scheduler's preemption by
// pod groups chooses them.
//
// Method: in a copy of the cluster without all pods of a lower priority the group is searched for
// nodes as in any cycle. Then the pods are put back, the most important first, and before all
// others those whose end would violate a disruption budget, as long as the group's members still
// fit where they would go. What cannot be put back are the victims. A group whose victims are still
// going, on nodes to which its members are nominated, chooses no others; a group with a member that
// never preempts chooses none.
// The copy belongs to the call, so nothing that is tried can be seen by other threads.
// Not modelled: pods that are only assumed as victims, and promises of claims that are under way.
// Threads: one; others may change the cache meanwhile.
// Cost: a copy of the cluster, and for each pod that is put back a decision for each member.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/groups/cycle_group.h"
#include "bench/sim/placing/groups/group_search.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "engine/base/random.h"

namespace schedq {

struct GroupPreemption {
  std::vector<ClusterPodRef> victims;  // None: those of before are still going.
  size_t violations = 0;               // Of the victims: more than disruption budgets allow.
  std::vector<std::string> nodes;      // By member: it is nominated to; empty: no change.
  size_t nodes_looked_at = 0;
  size_t decisions = 0;
  bool is_ongoing = false;
};

// nullopt: it can do nothing for the group.
std::optional<GroupPreemption> PreemptFor(const CycleGroup& root,
                                          const std::vector<GroupMember>& members,
                                          const SchedulerCache& cache, const Random& random);

}  // namespace schedq
