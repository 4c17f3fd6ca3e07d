// The PersistentVolume controller: binds claims to volumes, and makes volumes for claims.
//
// Purpose: a volume that names a claim (by a user, or by a scheduler that chose it) is bound to it
// where it suits. A claim that does not wait for a pod gets the smallest volume that suits it, or
// else one that its class's provisioner makes. A claim that waits gets a volume when a scheduler
// has selected a node for it. A volume that goes with its claim is deleted after it; any other
// keeps the name of its claim, and no further claim gets it.
// Not modelled: the time that a provisioner takes beyond its calls, provisioners that fail,
// protection of claims that pods use, and that Kubernetes looks at claims without a volume every 15
// seconds only: here a new volume is offered to one at once.
// Method: a work item a claim (work_queue.h), which chooses the volume when a worker takes it. A
// volume that no claim has is offered to one claim that found none before; if that one takes
// another volume, to the next.
// Invariants:
//  1. A claim has at most one work item, waiting or under way.
//  2. A claim that found no volume is offered the next one that suits it and that no other takes.
// Cost: a few steps for each event of a claim or volume, and for each item those of the index
// (volume_index.h); an offer takes a step for each claim without a volume that is small enough and
// does not suit. An event of a storage class takes a step for each unbound claim of the class.
// Threads: one, the one that advances the clock.
// Memory: a record for each claim that is not bound.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/cluster/storage.h"
#include "bench/sim/cluster/work_queue.h"
#include "engine/base/time/time.h"

namespace schedq {

class VolumeController {
 public:
  // Watches `cluster`, which outlives it.
  VolumeController(Cluster* cluster, int workers, std::function<Duration()> call_latency);

  // How many claims and volumes it has looked at.
  uint64_t steps() const { return steps_ + storage_.volume_index().steps(); }

 private:
  void OnChange(const ClusterChange& change);
  void OnVolume(const ClusterVolume& volume);
  void OnClaim(const ClusterVolumeClaim* before, const ClusterVolumeClaim* after);
  void DeleteVolumeOf(const ClusterVolumeClaim& claim);

  // A work item for the claim, unless it has one; else it looks again when that one has ended.
  void Sync(const std::string& claim, const std::string& offered = "");
  std::deque<WorkQueue::Call> Plan(const std::string& claim);
  // The item ends, perhaps without a volume.
  void End(const std::string& claim);
  // The volume that the claim names, that names the claim, or else the smallest that suits it.
  ClusterVolumeRef VolumeFor(const ClusterVolumeClaim& claim) const;
  bool WaitsForPod(const ClusterVolumeClaim& claim) const;
  // Whether a volume is to be made for the claim, which has none.
  bool IsToProvision(const ClusterVolumeClaim& claim) const;
  // Calls of an item.
  bool Reserve(const std::string& claim);
  bool BindClaim(const std::string& claim);
  bool Provision(const std::string& claim);

  // Of claims that found no volume.
  void AddIdle(const ClusterVolumeClaim& claim);
  void RemoveIdle(const std::string& claim);
  void Offer(const std::string& volume);

  // What a claim's work item is about.
  struct Item {
    std::string offered;  // The volume; empty: none was.
    std::string volume;   // The one that was chosen.
    bool is_under_way = false;
    bool again = false;  // There was an event meanwhile.
  };
  using BySize = std::set<std::pair<int64_t, std::string>>;

  Cluster& cluster_;
  Storage& storage_;
  WorkQueue work_;
  std::map<std::string, Item> items_;                     // By claim.
  std::map<std::string, std::set<std::string>> unbound_;  // Claims by storage class.
  std::map<std::string, std::set<std::string>> naming_;   // Unbound claims by the volume.
  std::map<std::string, BySize> idle_;                    // By storage class.
  std::map<std::string, std::pair<std::string, int64_t>> idle_claims_;  // Their class and size.
  uint64_t steps_ = 0;
};

}  // namespace schedq
