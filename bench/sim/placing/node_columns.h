// A scheduling thread's copy of all nodes, as columns: what filters and scores run over.
//
// Purpose: a filter compares 64 neighbouring values of one kind, without a branch, and says the
// outcome as the bits of a word.
// The copy follows the ledger by its notes, at a cost of what has changed.
// When not to use it: to reserve; a copy may be behind (node_ledger.h).
// Threads: one.
// Memory: some 300 bytes a node, and 24 bytes for each rare kind of a node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/node_ledger.h"
#include "bench/sim/placing/rare_columns.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

inline constexpr size_t kNodesPerBlock = 64;

class NodeColumns {
 public:
  explicit NodeColumns(const NodeLedger* ledger) : ledger_(*ledger) {}

  // Takes over what has changed in the ledger.
  void Refresh();

  // The number of nodes that exist.
  size_t nodes() const { return node_count_; }
  size_t blocks() const { return known_.size(); }
  // Masks of a block: bit i is node block * kNodesPerBlock + i.
  uint64_t known(size_t block) const { return known_[block]; }
  uint64_t unschedulable(size_t block) const { return unschedulable_[block]; }
  uint64_t tainted(size_t block) const { return tainted_[block]; }
  // Whether any node has a taint that only discourages.
  bool has_discouraging_taints() const { return discouraging_ != 0; }
  // Whether any node has images; how many nodes have that one.
  bool has_images() const { return !images_.empty(); }
  int64_t NodesWith(const std::string& image) const;
  // The nodes of the block that have at least `amount` of a kind left.
  uint64_t WithFree(size_t block, ResourceKind kind, int64_t amount) const {
    return HasColumn(kind) ? WithFreeInColumn(block, kind, amount)
                           : rare_.WithFree(block * kNodesPerBlock, kind, amount);
  }
  // The same of a kind with a column.
  uint64_t WithFreeInColumn(size_t block, ResourceKind kind, int64_t amount) const;
  // Of a kind: what the node has left, what it has for pods, and what pods take of it.
  int64_t free(uint32_t slot, ResourceKind kind) const {
    return HasColumn(kind) ? free_[kind][slot] : RareFree(slot, kind);
  }
  int64_t limit(uint32_t slot, ResourceKind kind) const {
    return HasColumn(kind) ? limits_[kind][slot] : RareLimit(slot, kind);
  }
  int64_t used(uint32_t slot, ResourceKind kind) const {
    return limit(slot, kind) - free(slot, kind);
  }
  // By node of the block: changes, from 1 on, with the room of the node.
  std::span<const uint32_t, kNodesPerBlock> room_versions(size_t block) const {
    return std::span<const uint32_t, kNodesPerBlock>(room_versions_.data() + block * kNodesPerBlock,
                                                     kNodesPerBlock);
  }
  uint64_t node_version(uint32_t slot) const { return node_versions_[slot]; }
  const ClusterNode& node(uint32_t slot) const { return *nodes_[slot]; }
  const ClusterNodeRef& node_ref(uint32_t slot) const { return nodes_[slot]; }
  // Where the node is, if these columns have it.
  std::optional<uint32_t> SlotOf(const std::string& node) const;

 private:
  int64_t RareFree(uint32_t slot, ResourceKind kind) const;
  int64_t RareLimit(uint32_t slot, ResourceKind kind) const;
  void ReadAll();
  void Read(uint32_t slot);
  void ReadNode(uint32_t slot);
  void ReadLimits(uint32_t slot);
  // What the node adds to what all nodes have in common (1), or takes away (-1).
  void CountNode(const ClusterNode& node, int sign);
  void Grow(size_t blocks);

  const NodeLedger& ledger_;
  NodeLedger::Cursor cursor_ = 0;
  size_t node_count_ = 0;
  size_t discouraging_ = 0;                          // Nodes with a taint that only discourages.
  std::unordered_map<std::string, int64_t> images_;  // On how many nodes.
  std::vector<uint64_t> known_;
  std::vector<uint64_t> unschedulable_;
  std::vector<uint64_t> tainted_;  // By a taint that keeps pods away.
  std::array<std::vector<int64_t>, kColumnKinds> free_;
  std::array<std::vector<int64_t>, kColumnKinds> limits_;
  RareColumns rare_;
  std::vector<uint32_t> room_versions_;
  std::vector<uint64_t> node_versions_;
  std::vector<ClusterNodeRef> nodes_;
};

}  // namespace schedq
