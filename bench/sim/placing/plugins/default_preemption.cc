// A pod that no node takes may go to a node from which pods of a lower priority are deleted.
//
// Candidates: nodes that would pass without their pods of lower priority, from a random place on,
// until a tenth of all nodes, but at least a hundred, are found. On each, the more
// important pods are put back as long as the node passes: those of the highest priority first, and
// of these the oldest. What is left are its victims.
// Choice, as upstream's without budgets: the node whose most important victim has the lowest
// priority; then the lowest sum of priorities; then the fewest victims; then the node whose oldest
// victim of the highest priority is the youngest; then the first.
// A pod that is nominated and whose victims are still going chooses no others. Where it does not
// know of its nomination yet, a victim that is going already is one again. A pod with
// preemptionPolicy Never chooses none.
// Not modelled: disruption budgets, and pods that are only assumed as victims.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
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
};

bool IsMoreImportant(const ClusterPodRef& a, const ClusterPodRef& b) {
  return a->priority != b->priority ? a->priority > b->priority : a->number < b->number;
}

// Upstream adds 2^31 to each priority, so that each further victim counts.
int64_t SumOfPriorities(const std::vector<ClusterPodRef>& victims) {
  int64_t sum = 0;
  for (const ClusterPodRef& victim : victims) sum += int64_t{victim->priority} - INT32_MIN;
  return sum;
}

bool IsBetter(const Candidate& a, const Candidate& b) {
  const auto rank = [](const Candidate& each) {
    // A younger pod has the higher number.
    return std::tuple(each.victims.front()->priority, SumOfPriorities(each.victims),
                      each.victims.size(), -static_cast<int64_t>(each.victims.front()->number));
  };
  return rank(a) < rank(b);
}

class DefaultPreemption final : public PlacingPlugin {
 public:
  explicit DefaultPreemption(const PlacingTools& tools)
      : resources_(*tools.resources), pods_(*tools.pods) {}

  std::string_view name() const override { return "DefaultPreemption"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kPostFilter); }

  std::optional<PostFilterResult> PostFilter(const FailedSearch& search) const override {
    const ClusterPod& pod = *search.attempt().pod;
    if (!pod.nominated_node_name.empty() && AreVictimsGoing(search)) {
      return PostFilterResult{.node = "", .victims = {}, .victims_are_going = true};
    }
    if (!pods_.HasBelow(pod.priority) || pod.spec().never_preempts) return std::nullopt;
    const std::vector<Candidate> candidates = CandidatesOf(search);
    if (candidates.empty()) return std::nullopt;
    const auto best = std::min_element(candidates.begin(), candidates.end(), IsBetter);
    return PostFilterResult{.node = search.nodes().node(best->slot).name,
                            .victims = best->victims,
                            .victims_are_going = false};
  }

 private:
  bool AreVictimsGoing(const FailedSearch& search) const {
    const ClusterPod& pod = *search.attempt().pod;
    const std::optional<uint32_t> slot = search.SlotOf(pod.nominated_node_name);
    return slot && pods_.IsAnyGoing(*slot, pod.priority);
  }

  std::vector<Candidate> CandidatesOf(const FailedSearch& search) const {
    constexpr size_t kCandidatesMin = 100;
    constexpr size_t kShare = 10;
    std::vector<Candidate> candidates;
    const NodeColumns& nodes = search.nodes();
    const size_t wanted = std::max(kCandidatesMin, nodes.nodes() / kShare);
    for (size_t i = 0; i < nodes.blocks() && candidates.size() < wanted; ++i) {
      const size_t block = (search.first_block() + i) % nodes.blocks();
      ForEachNode(block, nodes.known(block), [&](uint32_t slot) {
        std::vector<ClusterPodRef> victims = VictimsOn(slot, search);
        if (!victims.empty()) candidates.push_back({slot, std::move(victims)});
      });
    }
    return candidates;
  }

  // The most important first; none: the node does not pass without them either.
  std::vector<ClusterPodRef> VictimsOn(uint32_t slot, const FailedSearch& search) const {
    std::vector<ClusterPodRef> below = pods_.Below(slot, search.attempt().pod->priority);
    if (below.empty()) return {};
    std::vector<NodeDemand> demands;
    NodeChange change;
    std::sort(below.begin(), below.end(), IsMoreImportant);
    for (const ClusterPodRef& pod : below) {
      demands.push_back(resources_.DemandOf(*pod));
      change.Take(pod, demands.back());
    }
    if (!search.WouldPass(slot, change)) return {};
    std::vector<ClusterPodRef> victims;
    for (size_t i = 0; i < below.size(); ++i) {
      change.PutBack(below[i], demands[i]);
      if (search.WouldPass(slot, change)) continue;
      change.Take(below[i], demands[i]);
      victims.push_back(below[i]);
    }
    return victims;
  }

  ResourceTable& resources_;
  const PodsByNode& pods_;
};

}  // namespace

PlacingPluginRef MakeDefaultPreemption(const PlacingTools& tools) {
  return std::make_unique<DefaultPreemption>(tools);
}

}  // namespace schedq
