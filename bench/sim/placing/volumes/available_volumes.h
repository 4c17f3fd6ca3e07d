// Volumes that no claim has yet, by what claims ask of them and by the nodes that reach them.
//
// Purpose: a claim that waits for a pod is bound to a volume that the pod's node reaches. Volumes
// that no claim can tell apart are one group, and each node knows the groups that it reaches, so
// that an attempt looks at these groups only.
// Threads: one at a time; the book's lock guards it.
// Memory: a record a volume, a number for each node and group that it reaches. Groups stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/sim/cluster/storage.h"
#include "engine/object.h"

namespace schedq {

class AvailableVolumes {
 public:
  void Add(const ClusterVolumeRef& volume);
  // Nothing happens where it is not there.
  void Remove(const ClusterVolume& volume);
  // The node of the slot is another one, or has other labels.
  void NodeChanged(uint32_t slot);

  // The smallest that suits the claim and that the node reaches, and that is not among `chosen`;
  // of several the first by name. Null: there is none.
  ClusterVolumeRef Find(const ClusterVolumeClaim& claim, uint32_t slot, const ObjectView& node,
                        std::span<const std::string> chosen);

 private:
  struct Group {
    ClusterVolumeRef example;
    std::map<std::string, ClusterVolumeRef> volumes;  // By name.
  };
  struct Reach {
    size_t seen = 0;               // So many of the groups were looked at.
    std::vector<uint32_t> groups;  // Those that the node reaches.
  };
  // The volumes of one storage class.
  struct Pool {
    std::vector<Group> groups;
    std::unordered_map<std::string, uint32_t> by_key;
    std::vector<Reach> reaches;  // By node slot.
  };

  static const std::vector<uint32_t>& ReachedFrom(Pool* pool, uint32_t slot,
                                                  const ObjectView& node);

  std::unordered_map<std::string, Pool> pools_;  // By class name.
};

}  // namespace schedq
