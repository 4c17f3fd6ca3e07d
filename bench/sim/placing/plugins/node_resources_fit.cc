// A node must have enough left of each resource that the pod asks for, and room for one more pod.
//
// Score: how much of each scored resource would be left, in use, or as the shape says, with the
// pod; the weighted mean. A container that requests no cpu or memory counts as if it asked for some
// (PodObject), so that such pods spread too. Of placements of a group the one that would be the
// most in use scores best, whatever the strategy for nodes is.
// A scored resource for which a device class stands counts by the node's devices of that class, for
// pods that ask for it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/devices/device_inventory.h"
#include "bench/sim/placing/amounts_by_kind.h"
#include "bench/sim/placing/claim_book.h"
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
  NodeResourcesFit(ResourceTable* resources, ClaimBook* claims, const FitScoring& scoring)
      : resources_(*resources),
        claims_(claims),
        strategy_(scoring.strategy),
        shape_(scoring.shape) {
    for (FitScoring::Point& point : shape_) point.score *= kScoreMax / kPointScoreMax;
    for (const FitScoring::Resource& resource : scoring.resources) {
      const ResourceKind kind = resources_.FindOrAdd(resource.name);
      const bool only_where_requested =
          kind != kCpuResource && kind != kMemoryResource && resource.name != "ephemeral-storage";
      scored_.push_back({kind, only_where_requested, resource.weight, resource.name});
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
      candidates &= nodes.WithFreeInColumn(block, part.kind, part.amount);
    }
    for (const NodeDemand::Part& part : attempt.demand.rare) {
      candidates &= nodes.WithFree(block, part.kind, part.amount);
    }
    return candidates;
  }

  bool FilterChanged(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot,
                     const NodeChange& change) const override {
    if (attempt.demand.fits_nowhere) return false;
    bool fits = true;
    attempt.demand.ForEachPart([&](const NodeDemand::Part& part) {
      const int64_t free = nodes.free(slot, part.kind) + change.freed(part.kind);
      fits = fits && (IsAssumed(part) || free >= part.amount);
    });
    return fits;
  }

  int32_t weight() const override { return 1; }
  bool scores_room() const override { return true; }

  int64_t ScoreRoom(const PlacingAttempt& attempt, const NodeColumns& nodes,
                    uint32_t slot) const override {
    return MeanOf(SumOf(attempt, nodes, slot));
  }

  bool PreScore(PlacingAttempt* attempt, const NodeColumns&) const override {
    return std::any_of(scored_.begin(), scored_.end(), [&](const Scored& each) {
      return WantedDevices(*attempt, each) != 0 && claims_->StandsFor(each.name);
    });
  }

  // What devices make of the node's score, beyond what its room does.
  void Score(const PlacingAttempt& attempt, const NodeColumns& nodes,
             std::span<const uint32_t> slots, std::span<int64_t> scores) const override {
    for (size_t i = 0; i < slots.size(); ++i) {
      const Weighted room = SumOf(attempt, nodes, slots[i]);
      Weighted all = room;
      for (const Scored& each : scored_) {
        const int64_t wanted = WantedDevices(attempt, each);
        if (wanted == 0 || nodes.limit(slots[i], each.kind) != 0) continue;
        const DeviceCount devices = claims_->CountOf(each.name, nodes.node(slots[i]));
        if (devices.all != 0) Add(ScoreOf(devices.in_use + wanted, devices.all), each, &all);
      }
      scores[i] = MeanOf(all) - MeanOf(room);
    }
  }

  int64_t ScorePlacement(const CycleGroup&, const ProposedPlacement& proposed,
                         const NodeColumns& nodes) const override {
    AmountsByKind wanted;
    for (const ClusterPod* pod : proposed.pods) {
      resources_.DemandOf(*pod).ForEachPart(
          [&](const NodeDemand::Part& part) { wanted.Add(KindScoredAs(part.kind), part.amount); });
    }
    int64_t sum = 0;
    int64_t weights = 0;
    for (const Scored& each : scored_) {
      int64_t used = wanted.Of(each.kind);
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
    ResourceKind kind;
    bool only_where_requested;
    int64_t weight;
    std::string name;
  };
  struct Weighted {
    int64_t sum = 0;
    int64_t weights = 0;
  };

  // Devices that the pod asks for by that resource.
  static int64_t WantedDevices(const PlacingAttempt& attempt, const Scored& scored) {
    int64_t wanted = 0;
    for (const ExtendedRequest& each : attempt.pod->device_requests) {
      if (each.resource == scored.name) wanted += each.count;
    }
    return wanted;
  }

  Weighted SumOf(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot) const {
    Weighted all;
    for (const Scored& each : scored_) {
      const int64_t limit = nodes.limit(slot, each.kind);
      const int64_t wanted = attempt.demand.AmountOf(each.kind);
      if (limit == 0 || (each.only_where_requested && wanted == 0)) continue;
      int64_t used = nodes.used(slot, each.kind) + wanted;
      if (each.kind == kCpuResource) used += Assumed(attempt, nodes, slot, kAssumedCpu);
      if (each.kind == kMemoryResource) used += Assumed(attempt, nodes, slot, kAssumedMemory);
      Add(ScoreOf(used, limit), each, &all);
    }
    return all;
  }

  // A shape's zero counts as if the resource were not there.
  void Add(int64_t score, const Scored& scored, Weighted* all) const {
    if (score == 0 && strategy_ == Strategy::kRequestedToCapacityRatio) return;
    all->sum += score * scored.weight;
    all->weights += scored.weight;
  }
  int64_t MeanOf(const Weighted& all) const {
    if (all.weights == 0) return 0;
    if (strategy_ != Strategy::kRequestedToCapacityRatio) return all.sum / all.weights;
    return std::llround(static_cast<double>(all.sum) / static_cast<double>(all.weights));
  }

  static ResourceKind KindScoredAs(ResourceKind kind) {
    if (kind == kAssumedCpu) return kCpuResource;
    return kind == kAssumedMemory ? kMemoryResource : kind;
  }

  // Such parts only score.
  static bool IsAssumed(const NodeDemand::Part& part) {
    return part.kind == kAssumedCpu || part.kind == kAssumedMemory;
  }

  static int64_t Assumed(const PlacingAttempt& attempt, const NodeColumns& nodes, uint32_t slot,
                         ResourceKind kind) {
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
  ClaimBook* const claims_;  // Not asked of pods without device requests.
  const Strategy strategy_;
  std::vector<FitScoring::Point> shape_;  // With scores up to kScoreMax.
  std::vector<Scored> scored_;
};

}  // namespace

PlacingPluginRef MakeNodeResourcesFit(const PlacingTools& tools) {
  return std::make_unique<NodeResourcesFit>(tools.resources, tools.claims,
                                            tools.profile.fit_scoring);
}

}  // namespace schedq
