// A set of nodes among which a group is tried, as a mask for each block of nodes.
//
// Threads: one.
// Memory: a bit a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace schedq {

struct GroupPlacement {
  std::string name;             // The value of the topology label; empty: all nodes.
  std::vector<uint64_t> nodes;  // By block.
  size_t count = 0;             // Of the nodes.

  uint64_t Of(size_t block) const { return block < nodes.size() ? nodes[block] : 0; }
  void Add(size_t block, uint64_t node) {
    if (block >= nodes.size()) nodes.resize(block + 1);
    nodes[block] |= node;
    ++count;
  }
};

}  // namespace schedq
