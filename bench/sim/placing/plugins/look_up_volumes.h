// What the pod's volumes ask of nodes, looked up once in an attempt by the first plugin that asks.
#pragma once

#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/volumes/volume_book.h"

namespace schedq {

// Null: the pod has no volumes.
inline const WantedVolumes* LookUpVolumes(VolumeBook* book, PlacingAttempt* attempt) {
  if (attempt->pod->volumes == nullptr) return nullptr;
  if (attempt->volumes == nullptr) attempt->volumes = book->WantedBy(*attempt->pod);
  return attempt->volumes.get();
}

}  // namespace schedq
