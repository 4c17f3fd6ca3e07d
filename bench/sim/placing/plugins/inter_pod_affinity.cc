// A pod goes near pods that it wants for neighbours, and away from those that it does not want or
// that do not want it; and rather where it, and the pods there, prefer it to be.
//
// Score: the weights of the preferred terms, once for each pod near the node that matches one, less
// for anti-affinity; pods on nodes count with their own preferences, and for required affinity with
// what the profile says, 1 by default. The nodes lie between 0 for the least and 100 for the most.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/normalize.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "engine/pod_rules.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

class InterPodAffinity final : public PlacingPlugin {
 public:
  explicit InterPodAffinity(const PlacingTools& tools)
      : book_(*tools.pod_book),
        required_weight_(tools.profile.hard_pod_affinity_weight),
        ignores_others_(tools.profile.ignores_preferences_of_others) {}

  std::string_view name() const override { return "InterPodAffinity"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kScore);
  }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    const PodRules& rules = RulesOf(*attempt->pod);
    const bool asks = !rules.affinity.empty() || !rules.anti_affinity.empty();
    if (!asks && !book_.AnyKeepsAway()) return PreFilterAnswer::kSkip;
    attempt->pod_class = book_.ClassOf(*attempt->pod);
    return book_.HasNeighbourTerms(attempt->pod_class) ? PreFilterAnswer::kFilter
                                                       : PreFilterAnswer::kSkip;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    return book_.WithNeighbours(attempt.pod_class, nodes, block, candidates);
  }

  bool FilterChanged(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot,
                     const NodeChange& change) const override {
    return book_.WouldHaveNeighbours(attempt.pod_class, nodes, slot, change);
  }

  int32_t weight() const override { return 2; }

  bool PreScore(PlacingAttempt* attempt, const NodeColumns&) const override {
    const PodRules& rules = RulesOf(*attempt->pod);
    const bool asks = !rules.preferred_affinity.empty() || !rules.preferred_anti_affinity.empty();
    if (!asks && (ignores_others_ || !book_.AnyPrefers())) return false;
    attempt->pod_class = book_.ClassOf(*attempt->pod);
    return true;
  }

  void Score(const PlacingAttempt& attempt, const NodeColumns&, std::span<const uint32_t> slots,
             std::span<int64_t> scores) const override {
    if (!book_.Prefer(attempt.pod_class, slots, scores, required_weight_)) return;
    NormalizeBetween(scores);
  }

 private:
  PodBook& book_;
  const int64_t required_weight_;
  const bool ignores_others_;  // Where the pod prefers nothing itself.
};

}  // namespace

PlacingPluginRef MakeInterPodAffinity(const PlacingTools& tools) {
  return std::make_unique<InterPodAffinity>(tools);
}

}  // namespace schedq
