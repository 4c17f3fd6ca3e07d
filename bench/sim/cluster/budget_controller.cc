#include "bench/sim/cluster/budget_controller.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "engine/label_selector.h"
#include "engine/pod.h"

namespace schedq {
namespace {

bool Selects(const ClusterBudget& budget, const ClusterPod* pod) {
  return pod != nullptr && budget.spec.selector && pod->namespace_name == budget.namespace_name &&
         MatchesLabels(*budget.spec.selector, pod->labels);
}

}  // namespace

BudgetController::BudgetController(Cluster* cluster, int workers,
                                   std::function<Duration()> call_latency)
    : cluster_(*cluster), work_(&cluster->clock(), workers, std::move(call_latency)) {
  cluster_.Watch([this](const ClusterChange& change) { OnChange(change); });
}

void BudgetController::OnChange(const ClusterChange& change) {
  if (change.is_budget) {
    if (change.objects.after != nullptr) {
      Sync(static_cast<const ClusterBudget&>(*change.objects.after));
    }
    return;
  }
  if (change.resource != Resource::kPod || cluster_.budgets().empty()) return;
  for (const auto& [name, budget] : cluster_.budgets()) {
    if (Selects(*budget, change.pod_before.get()) || Selects(*budget, change.pod_after.get())) {
      Sync(*budget);
    }
  }
}

void BudgetController::Sync(const ClusterBudget& budget) {
  std::string name = QualifiedName(budget.namespace_name, budget.name);
  if (!waiting_.insert(name).second) return;
  work_.Add({[this, name = std::move(name)] {
    waiting_.erase(name);
    const auto found = cluster_.budgets().find(name);
    if (found == cluster_.budgets().end()) return false;
    return cluster_.SetBudgetStatus(name, StatusOf(*found->second));
  }});
}

BudgetStatus BudgetController::StatusOf(const ClusterBudget& budget) const {
  BudgetStatus status;
  int64_t pods = 0;
  for (const auto& [number, pod] : cluster_.pods()) {
    if (!Selects(budget, pod.get())) continue;
    ++pods;
    if (!pod->node_name.empty() && !pod->deleting) ++status.healthy;
  }
  const std::optional<BudgetBound>& bound = budget.spec.min_available;
  if (bound && !bound->is_percent) {
    status.expected = pods;
    status.desired_healthy = bound->value;
  }
  if (status.expected > 0) {
    status.allowed = std::max<int64_t>(status.healthy - status.desired_healthy, 0);
  }
  return status;
}

}  // namespace schedq
