#include "bench/sim/placing/groups/victim_units.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "engine/label_selector.h"
#include "engine/pod_group.h"

namespace schedq {
namespace {

constexpr int kRankOfPod = 1;
constexpr int kRankOfGroup = 2;
constexpr int kRankOfComposite = 3;

void NoteOldest(VictimUnit* unit) {
  const auto oldest = std::min_element(
      unit->pods.begin(), unit->pods.end(),
      [](const ClusterPodRef& a, const ClusterPodRef& b) { return a->number < b->number; });
  unit->oldest = (*oldest)->number;
}

// For the scheduler an empty selector selects nothing, and so does any of a pod without labels.
bool IsSelected(const ClusterPod& pod, const ClusterBudget& budget) {
  const std::optional<LabelSelector>& selector = budget.spec.selector;
  return !pod.labels.empty() && pod.namespace_name == budget.namespace_name && selector &&
         !selector->empty() && MatchesLabels(*selector, pod.labels);
}

// The first budget that has nothing left ends the count.
bool Violates(const ClusterPod& pod, const std::vector<ClusterBudgetRef>& budgets,
              std::vector<int64_t>* left) {
  for (size_t i = 0; i < budgets.size(); ++i) {
    if (IsSelected(pod, *budgets[i]) && --(*left)[i] < 0) return true;
  }
  return false;
}

}  // namespace

std::vector<VictimUnit> UnitsBelow(const std::vector<ClusterPodRef>& pods, int32_t priority,
                                   const GroupBook* groups) {
  std::vector<VictimUnit> units;
  std::set<GroupKey> seen;
  for (const ClusterPodRef& pod : pods) {
    VictimUnit unit{{pod}, pod->priority, kRankOfPod, pod->number};
    if (groups != nullptr && !pod->group_name.empty()) {
      unit.priority = groups->PriorityOf(*pod);
      unit.rank = kRankOfGroup;
      if (const ClusterGroupRef group = groups->DisruptedAsOne(*pod); group != nullptr) {
        const GroupKey& key = group->group->key;
        if (!seen.insert(key).second) continue;
        if (key.kind == GroupKind::kComposite) unit.rank = kRankOfComposite;
        std::vector<ClusterPodRef> all = groups->BoundBelow(key);
        if (!all.empty()) unit.pods = std::move(all);
        NoteOldest(&unit);
      }
    }
    if (unit.priority < priority) units.push_back(std::move(unit));
  }
  return units;
}

bool IsMoreImportant(const VictimUnit& a, const VictimUnit& b) {
  const auto key = [](const VictimUnit& unit) {
    return std::tuple(unit.priority, unit.rank, unit.pods.size());
  };
  return key(a) != key(b) ? key(a) > key(b) : a.oldest < b.oldest;
}

void PutViolatingFirst(std::vector<VictimUnit>* units,
                       const std::vector<ClusterBudgetRef>& budgets) {
  if (budgets.empty()) return;
  std::vector<int64_t> left;
  for (const ClusterBudgetRef& budget : budgets) left.push_back(budget->status.allowed);
  for (VictimUnit& unit : *units) {
    unit.violations = static_cast<size_t>(
        std::count_if(unit.pods.begin(), unit.pods.end(),
                      [&](const ClusterPodRef& pod) { return Violates(*pod, budgets, &left); }));
  }
  std::stable_partition(units->begin(), units->end(),
                        [](const VictimUnit& unit) { return unit.violations != 0; });
}

bool IsAmong(const VictimUnit& unit, const std::vector<ClusterPodRef>& pods) {
  return std::any_of(pods.begin(), pods.end(), [&](const ClusterPodRef& pod) {
    return pod->number == unit.pods.front()->number;
  });
}

std::vector<ClusterPodRef> PodsOf(const std::vector<VictimUnit>& units) {
  std::vector<ClusterPodRef> pods;
  for (const VictimUnit& unit : units) pods.insert(pods.end(), unit.pods.begin(), unit.pods.end());
  return pods;
}

}  // namespace schedq
