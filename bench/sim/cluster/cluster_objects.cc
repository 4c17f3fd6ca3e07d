#include "bench/sim/cluster/cluster_objects.h"

#include <algorithm>

namespace schedq {

const PodCondition* FindCondition(const Pod& pod, std::string_view type) {
  for (const PodCondition& condition : pod.conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

bool SetCondition(Pod* pod, const PodCondition& condition) {
  for (PodCondition& present : pod->conditions) {
    if (present.type != condition.type) continue;
    if (present == condition) return false;
    present = condition;
    return true;
  }
  pod->conditions.push_back(condition);
  return true;
}

bool AnyLarger(const ResourceList& after, const ResourceList& before) {
  return std::any_of(after.begin(), after.end(), [&](const auto& each) {
    const auto was = std::find_if(before.begin(), before.end(),
                                  [&](const auto& other) { return other.first == each.first; });
    return each.second > (was == before.end() ? 0 : was->second);
  });
}

bool MatchesSelector(const Labels& labels, const Labels& selector) {
  return std::all_of(selector.begin(), selector.end(), [&](const auto& wanted) {
    return std::find(labels.begin(), labels.end(), wanted) != labels.end();
  });
}

}  // namespace schedq
