// A node must have enough left of each resource that the pod asks for, and room for one more pod.
//
// Score: how much of each scored resource would be left, in use, or as the shape says, with the
// pod; the weighted mean. A container that requests no cpu or memory counts as if it asked for some
// (PodObject), so that such pods spread too. Of placements of a group the one that would be the
// most in use scores best, whatever the strategy for nodes is.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/groups/cycle_group.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {
namespace {

using Strategy = FitScoring::Strategy;

// Points of a shape have scores up to this.
constexpr int64_t kPointScoreMax = 10;
constexpr int64_t kPercentMax = 100;

// The broken line through the points.
int64_t AlongShape(const std::vector<FitScoring::Point>& shape, int64_t utilization) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (utilization > shape[i].utilization) continue;
    if (i == 0) return shape[0].score;
    const FitScoring::Point& from = shape[i - 1];
    const FitScoring::Point& to = shape[i];
    return from.score + (to.score - from.score) * (utilization - from.utilization) /
                            (to.utilization - from.utilization);
  }
  return shape.back().score;
}

class NodeResourcesFit final : public PlacingPlugin {
 public:
  NodeResourcesFit(ResourceTable* resources, const FitScoring& scoring)
      : resources_(*resources), strategy_(scoring.strategy), shape_(scoring.shape) {
    for (FitScoring::Point& point : shape_) point.score *= kScoreMax / kPointScoreMax;
    for (const FitScoring::Resource& resource : scoring.resources) {
      const std::optional<uint8_t> kind = resources_.FindOrAdd(resource.name);
      if (!kind) continue;  // No node can have it either.
      const bool only_where_requested =
          *kind != kCpuResource && *kind != kMemoryResource && resource.name != "ephemeral-storage";
      scored_.push_back({*kind, only_where_requested, resource.weight});
    }
  }

  std::string_view name() const override { return "NodeResourcesFit"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kScore,
                           ExtensionPoint::kPlacementScore);
  }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    attempt->demand = resources_.DemandOf(*attempt->pod);
    return PreFilterAnswer::kFilter;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    if (attempt.demand.fits_nowhere) return 0;
    for (const NodeDemand::Part& part : attempt.demand) {
      if (IsAssumed(part)) continue;
      candidates &= nodes.WithFree(block, part.kind, part.amount);
    }
    return candidates;
  }

  bool FilterChanged(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot,
                     const NodeChange& change) const override {
    if (attempt.demand.fits_nowhere) return false;
    return std::all_of(attempt.demand.begin(), attempt.demand.end(),
                       [&](const NodeDemand::Part& part) {
                         const int64_t free = nodes.free(slot, part.kind);
                         return IsAssumed(part) || free + change.freed(part.kind) >= part.amount;
                       });
  }

  int32_t weight() const override { return 1; }
  bool scores_room() const override { return true; }

  int64_t ScoreRoom(const PlacingAttempt& attempt, const NodeColumns& nodes,
                    uint32_t slot) const override {
    int64_t sum = 0;
    int64_t weights = 0;
    for (const Scored& each : scored_) {
      const int64_t limit = nodes.limit(slot, each.kind);
      const int64_t wanted = attempt.demand.AmountOf(each.kind);
      if (limit == 0 || (each.only_where_requested && wanted == 0)) continue;
      int64_t used = nodes.used(slot, each.kind) + wanted;
      if (each.kind == kCpuResource) used += Assumed(attempt, nodes, slot, kAssumedCpu);
      if (each.kind == kMemoryResource) used += Assumed(attempt, nodes, slot, kAssumedMemory);
      const int64_t score = ScoreOf(used, limit);
      // A shape's zero counts as if the resource were not there.
      if (score == 0 && strategy_ == Strategy::kRequestedToCapacityRatio) continue;
      sum += score * each.weight;
      weights += each.weight;
    }
    if (weights == 0) return 0;
    if (strategy_ != Strategy::kRequestedToCapacityRatio) return sum / weights;
    return std::llround(static_cast<double>(sum) / static_cast<double>(weights));
  }

  int64_t ScorePlacement(const CycleGroup&, const ProposedPlacement& proposed,
                         const NodeColumns& nodes) const override {
    std::array<int64_t, kResourceKindsMax> wanted{};
    for (const ClusterPod* pod : proposed.pods) {
      for (const NodeDemand::Part& part : resources_.DemandOf(*pod)) {
        wanted[KindScoredAs(part.kind)] += part.amount;
      }
    }
    int64_t sum = 0;
    int64_t weights = 0;
    for (const Scored& each : scored_) {
      int64_t used = wanted[each.kind];
      int64_t limit = 0;
      for (size_t block = 0; block < nodes.blocks(); ++block) {
        const uint64_t mask = proposed.placement->Of(block) & nodes.known(block);
        ForEachNode(block, mask, [&](uint32_t slot) {
          limit += nodes.limit(slot, each.kind);
          used += nodes.used(slot, each.kind);
          if (each.kind == kCpuResource) used += nodes.used(slot, kAssumedCpu);
          if (each.kind == kMemoryResource) used += nodes.used(slot, kAssumedMemory);
        });
      }
      if (limit == 0) continue;
      sum += std::min(used, limit) * kScoreMax / limit * each.weight;
      weights += each.weight;
    }
    return weights == 0 ? 0 : sum / weights;
  }

 private:
  struct Scored {
    uint8_t kind;
    bool only_where_requested;
    int64_t weight;
  };

  static uint8_t KindScoredAs(uint8_t kind) {
    if (kind == kAssumedCpu) return kCpuResource;
    return kind == kAssumedMemory ? kMemoryResource : kind;
  }

  // Such parts only score.
  static bool IsAssumed(const NodeDemand::Part& part) {
    return part.kind == kAssumedCpu || part.kind == kAssumedMemory;
  }

  static int64_t Assumed(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot,
                         uint8_t kind) {
    return nodes.used(slot, kind) + attempt.demand.AmountOf(kind);
  }

  // `used` is with the pod, and may be more than the limit: what is assumed has none.
  int64_t ScoreOf(int64_t used, int64_t limit) const {
    switch (strategy_) {
      case Strategy::kLeastAllocated:
        return used > limit ? 0 : (limit - used) * kScoreMax / limit;
      case Strategy::kMostAllocated:
        return std::min(used, limit) * kScoreMax / limit;
      case Strategy::kRequestedToCapacityRatio:
        return AlongShape(shape_, used > limit ? kPercentMax : used * kPercentMax / limit);
    }
    return 0;
  }

  ResourceTable& resources_;
  const Strategy strategy_;
  std::vector<FitScoring::Point> shape_;  // With scores up to kScoreMax.
  std::vector<Scored> scored_;
};

}  // namespace

PlacingPluginRef MakeNodeResourcesFit(const PlacingTools& tools) {
  return std::make_unique<NodeResourcesFit>(tools.resources, tools.profile.fit_scoring);
}

}  // namespace schedq
