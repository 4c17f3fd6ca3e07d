// Pods of a kind lie evenly over zones, nodes or whatever a label of nodes says: a node is out of
// question where one more pod would make its domain hold more than max_skew above the least, for
// each rule that may reject; the other rules score.
//
// Score: the fewer pods of the kind there are near the node, the better. Where there are few
// domains a difference of one weighs less.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "engine/pod_rules.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

bool HasRule(const ClusterPod& pod, bool required) {
  const auto& rules = RulesOf(pod).spread;
  return std::any_of(rules.begin(), rules.end(),
                     [&](const SpreadRule& rule) { return rule.is_required == required; });
}

// From counts, of which negative ones mean that the node is not judged, to scores.
void Normalize(std::span<int64_t> counts) {
  int64_t least = INT64_MAX;
  int64_t most = 0;
  for (const int64_t count : counts) {
    if (count < 0) continue;
    least = std::min(least, count);
    most = std::max(most, count);
  }
  for (int64_t& count : counts) {
    if (count < 0) {
      count = 0;
    } else {
      count = most == 0 ? kScoreMax : kScoreMax * (most + least - count) / most;
    }
  }
}

class PodTopologySpread final : public PlacingPlugin {
 public:
  explicit PodTopologySpread(PodBook* book) : book_(*book) {}

  std::string_view name() const override { return "PodTopologySpread"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kScore);
  }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    if (!HasRule(*attempt->pod, true)) return PreFilterAnswer::kSkip;
    attempt->pod_class = book_.ClassOf(*attempt->pod);
    return PreFilterAnswer::kFilter;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    return book_.WithEvenSpread(attempt.pod_class, nodes, block, candidates);
  }

  bool FilterChanged(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot,
                     const NodeChange& change) const override {
    return book_.WouldHaveEvenSpread(attempt.pod_class, nodes, slot, change);
  }

  int32_t weight() const override { return 2; }

  bool PreScore(PlacingAttempt* attempt, const NodeColumns&) const override {
    if (!HasRule(*attempt->pod, false)) return false;
    attempt->pod_class = book_.ClassOf(*attempt->pod);
    return true;
  }

  void Score(const PlacingAttempt& attempt, const NodeColumns&, std::span<const uint32_t> slots,
             std::span<int64_t> scores) const override {
    if (book_.CountLikes(attempt.pod_class, slots, scores)) Normalize(scores);
  }

 private:
  PodBook& book_;
};

}  // namespace

PlacingPluginRef MakePodTopologySpread(const PlacingTools& tools) {
  return std::make_unique<PodTopologySpread>(tools.pod_book);
}

}  // namespace schedq
