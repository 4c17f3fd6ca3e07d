// A placement that takes more of the group's pods is better.
//
// Score: the pods that are placed and those that would be, in relation to the best placement's.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "bench/sim/placing/groups/cycle_group.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"

namespace schedq {
namespace {

class PodGroupPodsCount final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "PodGroupPodsCount"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kPlacementScore);
  }
  int32_t weight() const override { return 1; }

  int64_t ScorePlacement(const CycleGroup& group, const ProposedPlacement& proposed,
                         const NodeColumns&) const override {
    return static_cast<int64_t>(group.placed.size() + proposed.pods.size());
  }

  void NormalizePlacements(std::span<int64_t> scores) const override {
    const int64_t best = *std::max_element(scores.begin(), scores.end());
    if (best == 0) return;
    for (int64_t& score : scores) score = score * kScoreMax / best;
  }
};

}  // namespace

PlacingPluginRef MakePodGroupPodsCount() { return std::make_unique<PodGroupPodsCount>(); }

}  // namespace schedq
