// The groups of one cycle: a group with its members, or a composite with its child groups.
//
// Threads: immutable once made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/groups/group_book.h"
#include "engine/base/result.h"
#include "engine/pod_group.h"

namespace schedq {

struct CycleGroup {
  ClusterGroupRef object;
  std::vector<size_t> members;       // Of a group: the places of its members among the cycle's.
  std::vector<CycleGroup> children;  // Of a composite.
  std::vector<GroupBook::Placed> placed;  // Members of it and of all below that have a node.

  const GroupKey& key() const { return object->group->key; }
  // As many members, or children, must be placed; one where it is not a gang.
  int64_t needed() const { return std::max<int64_t>(object->spec.min_count, 1); }
  bool is_composite() const { return key().kind == GroupKind::kComposite; }
};

// As the book has them now. An error says which object is missing.
Result<CycleGroup> MakeCycleGroup(const GroupBook& book, const GroupKey& root,
                                  std::span<const ClusterPodRef> members);

// Whether all members, those that are placed too, have the priority of the root, and all or none of
// them may preempt.
Status CheckMembers(const CycleGroup& tree, std::span<const ClusterPodRef> members);

}  // namespace schedq
