#include "bench/sim/placing/relations/class_plan.h"

#include <algorithm>

#include "bench/sim/placing/relations/node_sets.h"

namespace schedq {

bool ClassPlan::AllowsNeighbours(uint32_t slot) const {
  bool has_all = true;
  for (const PodCounter* counter : near) {
    // Also the first pod of its kind needs a node with all the labels.
    if (counter->DomainOf(slot) == Domains::kNone) return false;
    has_all = has_all && counter->Near(slot) > 0;
  }
  if (!has_all) {
    const bool is_first =
        may_be_first &&
        std::all_of(near.begin(), near.end(), [](const auto* each) { return each->total() == 0; });
    if (!is_first) return false;
  }
  return std::all_of(away.begin(), away.end(),
                     [slot](const PodCounter* counter) { return counter->Near(slot) == 0; });
}

bool ClassPlan::AllowsSpread(uint32_t slot) const {
  return std::all_of(required_spread.begin(), required_spread.end(), [slot](const Spread& rule) {
    const PodCounter& counter = *rule.counter;
    if (counter.DomainOf(slot) == Domains::kNone) return false;
    const int64_t least = counter.live_domains() < rule.min_domains ? 0 : counter.Least();
    const int64_t itself = rule.counts_itself ? 1 : 0;
    return counter.Near(slot) + itself - least <= rule.max_skew;
  });
}

}  // namespace schedq
