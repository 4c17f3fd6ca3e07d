#include "bench/sim/placing/budget_book.h"

#include <memory>

#include "engine/pod.h"

namespace schedq {

void BudgetBook::Apply(const ClusterChange& change) {
  const auto& latest = static_cast<const ClusterBudget&>(*change.objects.Latest());
  const std::string name = QualifiedName(latest.namespace_name, latest.name);
  const std::lock_guard lock(mutex_);
  if (change.objects.after == nullptr) {
    budgets_.erase(name);
  } else {
    budgets_[name] = std::static_pointer_cast<const ClusterBudget>(change.objects.after);
  }
  count_.store(budgets_.size());
}

std::vector<ClusterBudgetRef> BudgetBook::All() const {
  std::vector<ClusterBudgetRef> all;
  if (count_.load() == 0) return all;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, budget] : budgets_) all.push_back(budget);
  return all;
}

}  // namespace schedq
