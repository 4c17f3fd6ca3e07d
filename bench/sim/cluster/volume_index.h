// Volumes by what claims ask of them: those of each claim, and those that no claim has.
//
// Purpose: a claim finds its volume in a few steps, however many volumes there are.
// When not to use it: where the node matters (bench/sim/placing/volumes/available_volumes.h).
// Threads: one.
// Cost: SmallestFor takes a step for each kind of volume of the class (its ways of access and its
// mode), and one for each volume, from the smallest that is large enough, whose labels the claim
// does not select. All others take a few steps, or one for each volume that they name.
// Memory: a record a volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_storage.h"

namespace schedq {

class VolumeIndex {
 public:
  void Add(const ClusterVolumeRef& volume);
  void Remove(const ClusterVolume& volume);

  // The first by name that names the claim and suits it; null: none does.
  ClusterVolumeRef MeantFor(const ClusterVolumeClaim& claim) const;
  // Of those that no claim has and that suit the claim, the smallest of those with the fewest ways
  // of access; of several the first by name. Null: there is none.
  ClusterVolumeRef SmallestFor(const ClusterVolumeClaim& claim) const;

  // How many volumes, and kinds of volumes, questions have looked at.
  uint64_t steps() const { return steps_; }

 private:
  // Volumes that differ in size, name and labels alone.
  struct Kind {
    std::vector<std::string> access_modes;  // Sorted.
    bool is_block = false;

    // Those with few ways of access come first.
    bool operator<(const Kind& other) const {
      const size_t count = access_modes.size();
      const size_t other_count = other.access_modes.size();
      return count != other_count
                 ? count < other_count
                 : std::tie(access_modes, is_block) < std::tie(other.access_modes, other.is_block);
    }
  };
  using BySize = std::map<std::pair<int64_t, std::string>, ClusterVolumeRef>;

  static Kind KindOf(const ClusterVolume& volume);
  ClusterVolumeRef SmallestOf(const BySize& volumes, const ClusterVolumeClaim& claim) const;

  std::map<std::string, std::map<Kind, BySize>> available_;            // By storage class.
  std::map<std::string, std::map<std::string, ClusterVolumeRef>> of_;  // By claim, then by name.
  mutable uint64_t steps_ = 0;
};

}  // namespace schedq
