// A pod that no node takes may go to a node from which pods of a lower priority are deleted.
//
// Candidates: nodes that would pass without their pods of lower priority, from a random place on,
// until as many are found as the profile says: a tenth of all nodes, but at least a hundred. On
// each, the more important pods are put back as long as the node passes: those of the highest
// priority first, and of these the oldest; and before all others those whose end would violate a
// disruption budget. What is left are its victims. The search goes on until a candidate violates no
// budget.
// Choice, as upstream's: the node with the fewest violations; then the one whose most important
// victim has the lowest priority; then the lowest sum of priorities; then the fewest victims; then
// the node whose oldest victim of the highest priority is the youngest; then the first, those
// without violations before the others.
// Members of a group have the priority of its root here, and those of a group that is disrupted as
// one go together, wherever they are.
// A pod that is nominated and whose victims are still going chooses no others. Where it does not
// know of its nomination yet, a victim that is going already is one again. A pod with
// preemptionPolicy Never chooses none.
// Not modelled: pods that are only assumed as victims, and what pods that would
// go from other nodes change for affinity and spread.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/budget_book.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/groups/group_book.h"
#include "bench/sim/placing/groups/victim_units.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/pods_by_node.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {
namespace {

// A node is a candidate by its victims, the most important first.
struct Candidate {
  uint32_t slot = 0;
  std::vector<ClusterPodRef> victims;
  size_t violations = 0;
};

// Upstream adds 2^31 to each priority, so that each further victim counts.
int64_t SumOfPriorities(const std::vector<ClusterPodRef>& victims) {
  int64_t sum = 0;
  for (const ClusterPodRef& victim : victims) sum += int64_t{victim->priority} - INT32_MIN;
  return sum;
}

bool IsBetter(const Candidate& a, const Candidate& b) {
  const auto rank = [](const Candidate& each) {
    // A younger pod has the higher number.
    return std::tuple(each.violations, each.victims.front()->priority,
                      SumOfPriorities(each.victims), each.victims.size(),
                      -static_cast<int64_t>(each.victims.front()->number));
  };
  return rank(a) < rank(b);
}

class DefaultPreemption final : public PlacingPlugin {
 public:
  explicit DefaultPreemption(const PlacingTools& tools)
      : resources_(*tools.resources),
        pods_(*tools.pods),
        budgets_(*tools.budgets),
        groups_(tools.groups),
        candidates_min_(tools.profile.candidates_min),
        candidates_percentage_(tools.profile.candidates_percentage) {}

  std::string_view name() const override { return "DefaultPreemption"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kPostFilter); }

  std::optional<PostFilterResult> PostFilter(const FailedSearch& search) const override {
    const ClusterPod& pod = *search.attempt().pod;
    if (!pod.nominated_node_name.empty() && AreVictimsGoing(search)) {
      return PostFilterResult{
          .node = "", .victims = {}, .violations = 0, .victims_are_going = true};
    }
    if (!pods_.HasBelow(pod.priority) || pod.never_preempts) return std::nullopt;
    const std::vector<Candidate> candidates = CandidatesOf(search);
    if (candidates.empty()) return std::nullopt;
    const auto best = std::min_element(candidates.begin(), candidates.end(), IsBetter);
    return PostFilterResult{.node = search.nodes().node(best->slot).name,
                            .victims = best->victims,
                            .violations = best->violations,
                            .victims_are_going = false};
  }

 private:
  bool AreVictimsGoing(const FailedSearch& search) const {
    const ClusterPod& pod = *search.attempt().pod;
    const std::optional<uint32_t> slot = search.SlotOf(pod.nominated_node_name);
    return slot && pods_.IsAnyGoing(*slot, pod.priority);
  }

  // Those that violate no budget first.
  std::vector<Candidate> CandidatesOf(const FailedSearch& search) const {
    constexpr size_t kPercent = 100;
    std::vector<Candidate> candidates;
    std::vector<Candidate> violating;
    const NodeColumns& nodes = search.nodes();
    const std::vector<ClusterBudgetRef> budgets = budgets_.All();
    const size_t wanted =
        std::max(candidates_min_, nodes.nodes() * candidates_percentage_ / kPercent);
    const auto are_enough = [&] {
      return !candidates.empty() && candidates.size() + violating.size() >= wanted;
    };
    for (size_t i = 0; i < nodes.blocks() && !are_enough(); ++i) {
      const size_t block = (search.first_block() + i) % nodes.blocks();
      ForEachNode(block, nodes.known(block), [&](uint32_t slot) {
        Candidate candidate = VictimsOn(slot, search, budgets);
        if (candidate.victims.empty()) return;
        std::vector<Candidate>& kind = candidate.violations == 0 ? candidates : violating;
        kind.push_back(std::move(candidate));
      });
    }
    std::move(violating.begin(), violating.end(), std::back_inserter(candidates));
    return candidates;
  }

  // The most important first; none: the node does not pass without them either.
  Candidate VictimsOn(uint32_t slot, const FailedSearch& search,
                      const std::vector<ClusterBudgetRef>& budgets) const {
    const int32_t priority = search.attempt().pod->priority;
    // The priority of a pod may be above that of its group.
    const int32_t limit = groups_ != nullptr ? INT32_MAX : priority;
    std::vector<VictimUnit> units = UnitsBelow(pods_.Below(slot, limit), priority, groups_);
    if (units.empty()) return {};
    const std::string& node = search.nodes().node(slot).name;
    NodeChange change;
    const auto take = [&](const VictimUnit& unit) {
      for (const ClusterPodRef& pod : unit.pods) {
        if (pod->node_name == node) change.Take(pod, resources_.DemandOf(*pod));
      }
    };
    std::sort(units.begin(), units.end(), IsMoreImportant);
    for (const VictimUnit& unit : units) take(unit);
    if (!search.WouldPass(slot, change)) return {};
    PutViolatingFirst(&units, budgets);
    Candidate candidate{slot, {}, 0};
    std::vector<VictimUnit> victims;
    for (VictimUnit& unit : units) {
      for (const ClusterPodRef& pod : unit.pods) {
        if (pod->node_name == node) change.PutBack(pod, resources_.DemandOf(*pod));
      }
      if (search.WouldPass(slot, change)) continue;
      take(unit);
      candidate.violations += unit.violations;
      victims.push_back(std::move(unit));
    }
    std::sort(victims.begin(), victims.end(), IsMoreImportant);
    candidate.victims = PodsOf(victims);
    return candidate;
  }

  ResourceTable& resources_;
  const PodsByNode& pods_;
  const BudgetBook& budgets_;
  const GroupBook* const groups_;  // Null: pods are preempted one by one.
  const size_t candidates_min_;
  const size_t candidates_percentage_;
};

}  // namespace

PlacingPluginRef MakeDefaultPreemption(const PlacingTools& tools) {
  return std::make_unique<DefaultPreemption>(tools);
}

}  // namespace schedq
