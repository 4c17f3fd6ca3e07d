// The objects of storage as the API server holds them, and what says which volume is for which
// claim. The cluster's controller and schedulers ask the same functions, so that they agree.
// Threads: immutable, and pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/format/objects/storage_objects.h"
#include "engine/object.h"

namespace schedq {

struct ClusterVolume final : ObjectView {
  PersistentVolumeObject spec;
};
using ClusterVolumeRef = std::shared_ptr<const ClusterVolume>;

struct ClusterVolumeClaim final : ObjectView {
  PersistentVolumeClaimObject spec;
  bool is_bound = false;      // To the volume that it names, which a controller has confirmed.
  std::string selected_node;  // A volume is to be made that this node reaches.
};
using ClusterVolumeClaimRef = std::shared_ptr<const ClusterVolumeClaim>;

struct ClusterStorageClass final : ObjectView {
  StorageClassObject spec;
};
using ClusterStorageClassRef = std::shared_ptr<const ClusterStorageClass>;

struct ClusterCsiNode final : ObjectView {
  CsiNodeObject spec;
  // How many pods had been created when a limit came, or became lower, for the last time.
  uint64_t pods_before_limits = 0;
};
using ClusterCsiNodeRef = std::shared_ptr<const ClusterCsiNode>;

// None of these asks whether the volume is available.
// A volume that names the claim is for it where it is large enough, of the claim's mode, and allows
// its ways of access.
bool SuitsAsMeant(const ClusterVolume& volume, const ClusterVolumeClaim& claim);
// A volume that the claim names must be of its class too.
bool SuitsAsNamed(const ClusterVolume& volume, const ClusterVolumeClaim& claim);
// Any other must also have labels that the claim selects.
bool Suits(const ClusterVolume& volume, const ClusterVolumeClaim& claim);

// Whether volumes are made for claims of the class.
bool MakesVolumes(const StorageClassObject& storage_class);

// Whether one pod at a time may mount it.
bool IsForOnePod(const ClusterVolumeClaim& claim);

}  // namespace schedq
