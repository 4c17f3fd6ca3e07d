// A claim for one pod at a time is mounted by one pod of the cluster, and a node's disk that pods
// name themselves by one pod that writes, or by those that read.
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

class VolumeRestrictions final : public PlacingPlugin {
 public:
  explicit VolumeRestrictions(VolumeBook* book) : book_(*book) {}

  std::string_view name() const override { return "VolumeRestrictions"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    const WantedVolumes* const wanted = LookUpVolumes(&book_, attempt);
    if (wanted == nullptr) return PreFilterAnswer::kSkip;
    if (wanted->lacks_claim) return PreFilterAnswer::kReject;
    return wanted->shares_disks || wanted->is_in_use ? PreFilterAnswer::kFilter
                                                     : PreFilterAnswer::kSkip;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns&, size_t block,
                  uint64_t candidates) const override {
    if (attempt.volumes->is_in_use) return 0;
    return book_.WithFreeDisks(*attempt.pod, block, candidates);
  }

  bool FilterChanged(const PlacingAttempt& attempt, const NodeColumns&, uint32_t slot,
                     const NodeChange& change) const override {
    return book_.WouldBeFree(*attempt.volumes, *attempt.pod, slot, change);
  }

 private:
  VolumeBook& book_;
};

}  // namespace

PlacingPluginRef MakeVolumeRestrictions(const PlacingTools& tools) {
  return std::make_unique<VolumeRestrictions>(tools.volumes);
}

}  // namespace schedq
