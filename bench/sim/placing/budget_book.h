// The scheduler's knowledge of disruption budgets, as the informers delivered them.
//
// Threads: any, under one lock. Without budgets nobody takes it.
// Memory: a reference a budget.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

class BudgetBook {
 public:
  // A change of a budget.
  void Apply(const ClusterChange& change);
  // By namespace and name, where upstream has them in the order of a map. [chosen]
  std::vector<ClusterBudgetRef> All() const;

 private:
  mutable std::mutex mutex_;  // Guards the map.
  std::map<std::string, ClusterBudgetRef> budgets_;
  std::atomic<size_t> count_{0};  // Of the budgets; written under the lock.
};

}  // namespace schedq
