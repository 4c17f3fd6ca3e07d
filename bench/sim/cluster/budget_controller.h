// The disruption controller: keeps the status of disruption budgets.
//
// Purpose: of the pods that a budget selects those count as healthy that have a node and are not
// being deleted, because no kubelet says more here. As many may go as are healthy beyond what the
// budget wants. A budget by a share, or by how many may be unavailable, wants to know how many pods
// their controllers are to have; pods of a simulation have no controllers, and such a budget lets
// none go, as upstream's does.
// Not modelled: pods that were evicted and have not gone yet, because nobody evicts.
// Method: a work item a budget (work_queue.h); a budget that waits for its turn is not added again.
// Threads: one, the one that advances the clock.
// Memory: the names of the waiting budgets.
// Cost: a status is a look at all pods. Without budgets a change of a pod costs one comparison.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/work_queue.h"
#include "engine/base/time/time.h"

namespace schedq {

class BudgetController {
 public:
  // Watches `cluster`, which outlives it.
  BudgetController(Cluster* cluster, int workers, std::function<Duration()> call_latency);

 private:
  void OnChange(const ClusterChange& change);
  void Sync(const ClusterBudget& budget);
  BudgetStatus StatusOf(const ClusterBudget& budget) const;

  Cluster& cluster_;
  WorkQueue work_;
  std::set<std::string> waiting_;  // "namespace/name"
};

}  // namespace schedq
