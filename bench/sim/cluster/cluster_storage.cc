#include "bench/sim/cluster/cluster_storage.h"

#include <algorithm>

#include "engine/label_selector.h"

namespace schedq {
namespace {

bool Allows(const ClusterVolume& volume, const ClusterVolumeClaim& claim) {
  const auto& modes = volume.spec.access_modes;
  return std::all_of(claim.spec.access_modes.begin(), claim.spec.access_modes.end(),
                     [&](const std::string& mode) {
                       return std::find(modes.begin(), modes.end(), mode) != modes.end();
                     });
}

}  // namespace

bool SuitsAsMeant(const ClusterVolume& volume, const ClusterVolumeClaim& claim) {
  return volume.spec.bytes >= claim.spec.bytes && volume.spec.is_block == claim.spec.is_block &&
         Allows(volume, claim);
}

bool SuitsAsNamed(const ClusterVolume& volume, const ClusterVolumeClaim& claim) {
  return volume.spec.class_name == claim.spec.class_name && SuitsAsMeant(volume, claim);
}

bool Suits(const ClusterVolume& volume, const ClusterVolumeClaim& claim) {
  return SuitsAsNamed(volume, claim) &&
         (!claim.spec.selector || MatchesLabels(*claim.spec.selector, volume.labels));
}

bool MakesVolumes(const StorageClassObject& storage_class) {
  return !storage_class.provisioner.empty() &&
         storage_class.provisioner != "kubernetes.io/no-provisioner";
}

bool IsForOnePod(const ClusterVolumeClaim& claim) {
  const auto& modes = claim.spec.access_modes;
  return std::find(modes.begin(), modes.end(), "ReadWriteOncePod") != modes.end();
}

}  // namespace schedq
