#include "bench/sim/placing/groups/victim_units.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

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

std::vector<ClusterPodRef> PodsOf(const std::vector<VictimUnit>& units) {
  std::vector<ClusterPodRef> pods;
  for (const VictimUnit& unit : units) pods.insert(pods.end(), unit.pods.begin(), unit.pods.end());
  return pods;
}

}  // namespace schedq
