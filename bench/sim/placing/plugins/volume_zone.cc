// A pod goes only to nodes in the zones and regions of its volumes, by the labels of both.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/look_up_volumes.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/volumes/volume_book.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {
namespace {

class VolumeZonePlugin final : public PlacingPlugin {
 public:
  explicit VolumeZonePlugin(VolumeBook* book) : book_(*book) {}

  std::string_view name() const override { return "VolumeZone"; }
  bool rejects_for_pods() const override { return false; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    const WantedVolumes* const wanted = LookUpVolumes(&book_, attempt);
    if (wanted == nullptr) return PreFilterAnswer::kSkip;
    if (wanted->lacks_claim || wanted->has_unknown_zone) return PreFilterAnswer::kReject;
    return wanted->zones.empty() ? PreFilterAnswer::kSkip : PreFilterAnswer::kFilter;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    uint64_t passed = 0;
    ForEachNode(block, candidates, [&](uint32_t slot) {
      if (IsInZones(attempt.volumes->zones, nodes.node(slot).labels)) passed |= BitOfNode(slot);
    });
    return passed;
  }

 private:
  VolumeBook& book_;
};

}  // namespace

PlacingPluginRef MakeVolumeZone(const PlacingTools& tools) {
  return std::make_unique<VolumeZonePlugin>(tools.volumes);
}

}  // namespace schedq
