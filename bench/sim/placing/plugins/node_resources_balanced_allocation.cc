// A node on which cpu and memory are in use to a similar share is better than another.
//
// Score: how much the pod evens out the node's shares. 75 where it changes nothing, up to 100 where
// it evens them out, down to 50 where it sets them apart. Pods that request neither are left out.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {
namespace {

constexpr std::array<ResourceKind, 2> kScored = {kCpuResource, kMemoryResource};
constexpr int64_t kHalf = kScoreMax / 2;

double ShareOf(int64_t used, int64_t limit) {
  return std::min(1.0, static_cast<double>(used) / static_cast<double>(limit));
}

// Of two shares the standard deviation is half their distance.
int64_t Evenness(double a, double b) {
  return static_cast<int64_t>((1 - std::abs((a - b) / 2)) * static_cast<double>(kScoreMax));
}

class NodeResourcesBalancedAllocation final : public PlacingPlugin {
 public:
  std::string_view name() const override { return "NodeResourcesBalancedAllocation"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kScore); }
  int32_t weight() const override { return 1; }
  bool scores_room() const override { return true; }

  int64_t ScoreRoom(const PlacingAttempt& attempt, const NodeColumns& nodes,
                    uint32_t slot) const override {
    std::array<double, kScored.size()> without{};
    std::array<double, kScored.size()> with{};
    bool asks = false;
    bool has_both = true;
    for (size_t i = 0; i < kScored.size(); ++i) {
      const int64_t wanted = attempt.demand.AmountOf(kScored[i]);
      const int64_t limit = nodes.limit(slot, kScored[i]);
      asks = asks || wanted != 0;
      has_both = has_both && limit != 0;
      if (limit == 0) continue;
      const int64_t used = nodes.used(slot, kScored[i]);
      without[i] = ShareOf(used, limit);
      with[i] = ShareOf(used + wanted, limit);
    }
    if (!asks) return 0;
    // One share alone is even.
    if (!has_both) return kHalf + kHalf / 2;
    return kHalf + (kHalf + Evenness(with[0], with[1]) - Evenness(without[0], without[1])) / 2;
  }
};

}  // namespace

PlacingPluginRef MakeNodeResourcesBalancedAllocation() {
  return std::make_unique<NodeResourcesBalancedAllocation>();
}

}  // namespace schedq
