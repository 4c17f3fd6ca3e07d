// Volumes that no claim has yet, by what claims ask of them and by the nodes that reach them.
//
// Purpose: a claim that waits for a pod is bound to a volume that the pod's node reaches. Volumes
// that no claim and no node can tell apart are one group. Most groups are for nodes with a certain
// label, or name: a node finds them by its own labels. The others are asked one by one.
// When not to use it: where the node does not matter (bench/sim/cluster/volume_index.h).
// Threads: one at a time; the book's lock guards it.
// Invariant: no group is empty.
// Cost: Find takes a step for each label of the node, and of the groups for that label, in the
// order of their sizes, from the claim's size on, one for each up to the first that suits. So it
// does of those that are for no label. Add and Remove take a step for each value of the label.
// Memory: a record a volume, and one for each group and value of its label.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_storage.h"
#include "engine/object.h"
#include "engine/pod_rules.h"

namespace schedq {

class AvailableVolumes {
 public:
  void Add(const ClusterVolumeRef& volume);
  // Nothing happens where it is not there.
  void Remove(const ClusterVolume& volume);

  // The smallest that suits the claim and that the node reaches, and that is not among `chosen`;
  // of several the first by name. Null: there is none.
  ClusterVolumeRef Find(const ClusterVolumeClaim& claim, const ObjectView& node,
                        std::span<const std::string> chosen) const;

  // How many groups questions have looked at.
  uint64_t steps() const { return steps_; }

 private:
  // Of a node; or its name.
  struct Label {
    bool is_name = false;
    std::string key;
    std::string value;

    bool operator<(const Label& other) const {
      return std::tie(is_name, key, value) < std::tie(other.is_name, other.key, other.value);
    }
  };
  struct Group {
    std::map<std::string, ClusterVolumeRef> volumes;  // By name.
    std::vector<Label> labels;  // A node that reaches it has one of them; none: any node may.
  };
  // By size, and by the name of the group's first volume.
  using BySize = std::map<std::pair<int64_t, std::string>, const Group*>;
  // The volumes of one storage class.
  struct Pool {
    std::unordered_map<std::string, std::unique_ptr<Group>> groups;  // By what tells them apart.
    std::map<Label, BySize> by_label;
    BySize for_any;
  };
  struct Search;

  static std::vector<Label> LabelsOf(const Pool& pool, const std::vector<NodeTerm>& terms);
  // Where the group is found by its first volume.
  static void Enter(Pool* pool, const Group& group);
  static void Leave(Pool* pool, const Group& group);
  void Look(const BySize& groups, Search* search) const;

  std::unordered_map<std::string, Pool> pools_;  // By class name.
  mutable uint64_t steps_ = 0;
};

}  // namespace schedq
