// The PersistentVolume controller: binds claims to volumes, and makes volumes for claims.
//
// Purpose: a volume that names a claim (by a user, or by a scheduler that chose it) is bound to it.
// A claim that does not wait for a pod gets the smallest volume that suits it, or else one that its
// class's provisioner makes. A claim that waits gets a volume when a scheduler has selected a node
// for it. A volume that goes with its claim is deleted after it; any other keeps the name of its
// claim, and no further claim gets it.
// Not modelled: the time that a provisioner takes beyond its calls, provisioners that fail, and
// protection of claims that pods use.
// Method: a work item a claim (work_queue.h), which looks at the claim when its turn comes.
// Threads: one, the one that advances the clock.
// Memory: the waiting items.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/storage.h"
#include "bench/sim/cluster/work_queue.h"
#include "engine/base/time/time.h"

namespace schedq {

class VolumeController {
 public:
  // Watches `cluster`, which outlives it.
  VolumeController(Cluster* cluster, int workers, std::function<Duration()> call_latency);

 private:
  void OnChange(const ClusterChange& change);
  void OnVolume(const ClusterVolume& volume);
  void OnClaimGone(const ClusterVolumeClaim& claim);
  void SyncAll(const std::string& class_name);
  // An item for the claim, where it waits for something.
  void Sync(const std::string& claim);
  // Gives it the volume by two calls, the volume's first.
  void Bind(const std::string& claim, const std::string& volume);
  void Provision(const ClusterVolumeClaim& claim, const ClusterStorageClass& storage_class);
  // The volume that the claim names, that names the claim, or else the smallest that suits it.
  ClusterVolumeRef VolumeFor(const ClusterVolumeClaim& claim) const;

  Cluster& cluster_;
  Storage& storage_;
  WorkQueue work_;
};

}  // namespace schedq
