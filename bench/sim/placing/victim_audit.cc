#include "bench/sim/placing/victim_audit.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/groups/group_book.h"
#include "bench/sim/placing/groups/victim_units.h"
#include "bench/sim/placing/node_change.h"
#include "engine/pod.h"

namespace schedq {
namespace {

// Whether the node takes the pod once these units have gone, but for the one of that place.
class Remaining {
 public:
  Remaining(const FailedSearch& search, uint32_t slot, const SchedulerCache& cache)
      : search_(search), slot_(slot), cache_(cache) {}

  bool PassesWithout(const std::vector<const VictimUnit*>& gone) const {
    NodeChange change;
    for (const VictimUnit* unit : gone) {
      for (const ClusterPodRef& pod : unit->pods) {
        if (pod->node_name != search_.nodes().node(slot_).name) continue;
        change.Take(pod, cache_.nodes().resources().DemandOf(*pod));
      }
    }
    return search_.WouldPass(slot_, change);
  }

 private:
  const FailedSearch& search_;
  const uint32_t slot_;
  const SchedulerCache& cache_;
};

std::vector<const VictimUnit*> AllBut(const std::vector<VictimUnit>& units, size_t left_out) {
  std::vector<const VictimUnit*> all;
  for (size_t i = 0; i < units.size(); ++i) {
    if (i != left_out) all.push_back(&units[i]);
  }
  return all;
}

std::string FaultOf(const ClusterPod& pod, const std::string& node, const std::string& what) {
  return "preemption for pod " + QualifiedName(pod) + " on node " + node + ": " + what;
}

}  // namespace

std::string FaultOfVictims(const FailedSearch& search, const PostFilterResult& result,
                           const SchedulerCache& cache) {
  const ClusterPod& pod = *search.attempt().pod;
  const std::optional<uint32_t> slot = search.SlotOf(result.node);
  if (!slot) return FaultOf(pod, result.node, "there is no such node");
  const GroupBook* const groups = cache.knows_groups() ? &cache.groups() : nullptr;
  std::vector<VictimUnit> units = UnitsBelow(result.victims, pod.priority, groups);
  if (PodsOf(units).size() != result.victims.size()) {
    return FaultOf(pod, result.node, "a victim is not less important, or a group goes in part");
  }
  const Remaining node(search, *slot, cache);
  if (!node.PassesWithout(AllBut(units, units.size()))) {
    return FaultOf(pod, result.node, "the pod does not fit without its victims");
  }
  for (size_t i = 0; i < units.size(); ++i) {
    if (!node.PassesWithout(AllBut(units, i))) continue;
    return FaultOf(pod, result.node,
                   "victim " + QualifiedName(*units[i].pods.front()) + " goes in vain");
  }
  // Those that violate a budget, each by itself, beside all of the node that violate none.
  std::vector<VictimUnit> all =
      UnitsBelow(cache.pods_by_node().Below(*slot, groups != nullptr ? INT32_MAX : pod.priority),
                 pod.priority, groups);
  PutViolatingFirst(&all, cache.budgets().All());
  std::vector<const VictimUnit*> others;
  for (const VictimUnit& unit : all) {
    const bool is_victim = IsAmong(unit, result.victims);
    if (unit.violations == 0 || is_victim) others.push_back(&unit);
  }
  for (size_t i = 0; i < others.size(); ++i) {
    if (others[i]->violations == 0) continue;
    std::vector<const VictimUnit*> without = others;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (!node.PassesWithout(without)) continue;
    return FaultOf(pod, result.node,
                   "victim " + QualifiedName(*others[i]->pods.front()) +
                       " goes although its budget forbids it and others would do");
  }
  return "";
}

}  // namespace schedq
