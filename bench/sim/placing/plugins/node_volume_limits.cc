// A node takes as many volumes of a CSI driver as its CSINode says. A volume that is attached
// already takes no further room.
//
// A claim without a volume counts by its storage class. Disks of in-tree plugins count for the
// drivers to which these were migrated. Not modelled: VolumeAttachments.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/look_up_volumes.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/volumes/volume_book.h"

namespace schedq {
namespace {

class NodeVolumeLimits final : public PlacingPlugin {
 public:
  explicit NodeVolumeLimits(VolumeBook* book) : book_(*book) {}

  std::string_view name() const override { return "NodeVolumeLimits"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    const WantedVolumes* const wanted = LookUpVolumes(&book_, attempt);
    const bool asks = wanted != nullptr && (wanted->lacks_claim || !wanted->attached.empty());
    return asks ? PreFilterAnswer::kFilter : PreFilterAnswer::kSkip;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns&, size_t block,
                  uint64_t candidates) const override {
    if (attempt.volumes->lacks_claim) return 0;
    return book_.WithRoom(*attempt.volumes, block, candidates);
  }

  bool FilterChanged(const PlacingAttempt& attempt, const NodeColumns&, uint32_t slot,
                     const NodeChange& change) const override {
    return !attempt.volumes->lacks_claim && book_.WouldHaveRoom(*attempt.volumes, slot, change);
  }

 private:
  VolumeBook& book_;
};

}  // namespace

PlacingPluginRef MakeNodeVolumeLimits(const PlacingTools& tools) {
  return std::make_unique<NodeVolumeLimits>(tools.volumes);
}

}  // namespace schedq
