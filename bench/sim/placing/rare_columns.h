// A scheduling thread's copy of what nodes have of rare kinds of resources (resource_table.h): by
// kind the nodes that have it.
//
// Cost: a question is a binary search among the nodes that have the kind. A new one among nodes
// that are known moves those behind it, so nodes are best told in the order of their slots.
// Threads: one.
// Memory: 24 bytes for each kind of a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/sim/placing/resource_table.h"

namespace schedq {

class RareColumns {
 public:
  struct Entry {
    uint32_t slot = 0;
    int64_t free = 0;
    int64_t limit = 0;
  };

  void Set(const Entry& entry, ResourceKind kind);
  // Nothing is free, and there is no limit, where the node does not have the kind.
  Entry Of(uint32_t slot, ResourceKind kind) const;
  // Those of the 64 nodes from this slot on that have at least `amount`, which is above 0, left.
  uint64_t WithFree(size_t first_slot, ResourceKind kind, int64_t amount) const;

 private:
  std::vector<std::vector<Entry>> by_kind_;  // From kColumnKinds on; each by slot.
};

}  // namespace schedq
