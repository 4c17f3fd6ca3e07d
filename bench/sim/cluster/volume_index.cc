#include "bench/sim/cluster/volume_index.h"

#include <algorithm>

#include "bench/format/objects/storage_objects.h"
#include "engine/pod.h"

namespace schedq {
namespace {

std::vector<std::string> Sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

}  // namespace

VolumeIndex::Kind VolumeIndex::KindOf(const ClusterVolume& volume) {
  return {Sorted(volume.spec.access_modes), volume.spec.is_block};
}

void VolumeIndex::Add(const ClusterVolumeRef& volume) {
  const PersistentVolumeObject& spec = volume->spec;
  if (spec.claim.empty()) {
    available_[spec.class_name][KindOf(*volume)][{spec.bytes, volume->name}] = volume;
  } else {
    of_[spec.claim][volume->name] = volume;
  }
}

void VolumeIndex::Remove(const ClusterVolume& volume) {
  const PersistentVolumeObject& spec = volume.spec;
  if (!spec.claim.empty()) {
    const auto claim = of_.find(spec.claim);
    claim->second.erase(volume.name);
    if (claim->second.empty()) of_.erase(claim);
    return;
  }
  const auto of_class = available_.find(spec.class_name);
  const auto of_kind = of_class->second.find(KindOf(volume));
  of_kind->second.erase({spec.bytes, volume.name});
  if (of_kind->second.empty()) of_class->second.erase(of_kind);
  if (of_class->second.empty()) available_.erase(of_class);
}

ClusterVolumeRef VolumeIndex::MeantFor(const ClusterVolumeClaim& claim) const {
  ++steps_;
  const auto of_claim = of_.find(QualifiedName(claim.namespace_name, claim.name));
  if (of_claim == of_.end()) return nullptr;
  for (const auto& [name, volume] : of_claim->second) {
    ++steps_;
    if (SuitsAsMeant(*volume, claim)) return volume;
  }
  return nullptr;
}

ClusterVolumeRef VolumeIndex::SmallestFor(const ClusterVolumeClaim& claim) const {
  ++steps_;
  const auto of_class = available_.find(claim.spec.class_name);
  if (of_class == available_.end()) return nullptr;
  ClusterVolumeRef best;
  size_t modes_of_best = 0;
  for (const auto& [kind, volumes] : of_class->second) {
    ++steps_;
    if (best != nullptr && kind.access_modes.size() > modes_of_best) break;
    const ClusterVolumeRef volume = SmallestOf(volumes, claim);
    if (volume == nullptr) continue;
    const bool is_better = best == nullptr || std::tie(volume->spec.bytes, volume->name) <
                                                  std::tie(best->spec.bytes, best->name);
    if (!is_better) continue;
    best = volume;
    modes_of_best = kind.access_modes.size();
  }
  return best;
}

ClusterVolumeRef VolumeIndex::SmallestOf(const BySize& volumes,
                                         const ClusterVolumeClaim& claim) const {
  for (auto each = volumes.lower_bound({claim.spec.bytes, ""}); each != volumes.end(); ++each) {
    ++steps_;
    if (Suits(*each->second, claim)) return each->second;
    // The others of the kind differ in their labels alone.
    if (!claim.spec.selector) return nullptr;
  }
  return nullptr;
}

}  // namespace schedq
