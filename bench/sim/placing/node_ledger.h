// What the pods on each node take of it: the one truth that all scheduling threads share.
//
// Purpose: a scheduling thread decides by its own copy (node_columns.h) and then reserves here. A
// reservation that another thread was ahead of is refused, so that no node is ever overcommitted.
// Every change is noted, so that the copies follow by reading what changed.
// Threads: all from any thread. Reserve, Give, BalanceOf and Follow take no lock; the others take
// one that scheduling threads meet only where a node itself has changed.
// Invariants:
//  1. Of each kind, the ledger has the sum of what was taken and not given back.
//  2. A reservation is granted only where all of its parts fit.
//  3. A slot keeps its node's name while the node exists or pods are on it.
// Memory: for each slot a name and 16 bytes a kind with a column, and one ring of notes; and a
// record for each rare kind of the slot's nodes. There are at
// most as many slots as there were nodes at one time, and nodes that went with pods on them.
#pragma once

#include <tbb/concurrent_vector.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/amounts_by_kind.h"
#include "bench/sim/placing/rare_amounts.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

class NodeLedger {
 public:
  // What a copy has of one node.
  struct Balance {
    std::array<int64_t, kColumnKinds> free;  // Of the first `columns` kinds of the table.
    size_t columns = 0;
    uint64_t node_version = 0;  // Changes with the node itself.
  };
  // The place up to which a reader has followed the changes.
  using Cursor = uint64_t;

  NodeLedger();

  // A node that is new or changed; returns its slot.
  uint32_t SetNode(const ClusterNodeRef& node);
  void RemoveNode(const std::string& name);
  // The slot of a node that exists, or that pods are on; nullopt: there is neither.
  std::optional<uint32_t> SlotOf(const std::string& name) const;

  // Takes all parts where all fit and the node is still the version that the caller decided by,
  // else none.
  bool Reserve(uint32_t slot, uint64_t node_version, const NodeDemand& demand);
  // Takes all parts, whether they fit or not: the cluster says that the pod is on the node. Returns
  // the node's slot; the node may be unknown.
  uint32_t Take(const std::string& node, const NodeDemand& demand);
  void Give(uint32_t slot, const NodeDemand& demand);

  size_t slots() const { return slot_count_.load(std::memory_order_acquire); }
  Balance BalanceOf(uint32_t slot) const;
  // Calls `visit` with each rare kind of the node, with what is free of it, and its limit.
  template <typename Visit>
  void ForEachRare(uint32_t slot, Visit visit) const {
    slots_[slot].rare.ForEach([&](ResourceKind kind, const NodeAmounts& amounts) {
      const int64_t limit = amounts.limit.load(std::memory_order_relaxed);
      visit(kind, limit - amounts.used.load(std::memory_order_relaxed), limit);
    });
  }
  // Null: the node does not exist (any more).
  ClusterNodeRef NodeAt(uint32_t slot) const;
  // Calls `visit` for each slot that changed since the cursor, perhaps more than once, and moves
  // the cursor. False: too much has changed to have been kept; the caller reads all slots.
  bool Follow(Cursor* cursor, const std::function<void(uint32_t slot)>& visit) const;
  // The cursor of a reader that reads all slots after this call.
  Cursor Now() const { return noted_.load(std::memory_order_acquire); }

  // Also a reader of the ledger may name a new kind.
  ResourceTable& resources() const { return resources_; }

 private:
  static constexpr size_t kNotes = size_t{1} << 16;

  struct Slot {
    // Null: the node has nothing of the kind.
    NodeAmounts* Find(ResourceKind kind) {
      return HasColumn(kind) ? &amounts[kind] : rare.Find(kind);
    }

    // Takes parts up to the first that does not fit, of which nothing is taken; returns that one.
    const NodeDemand::Part* TakeWhileFit(const NodeDemand::Part* part, const NodeDemand::Part* end);
    void Give(const NodeDemand::Part& part);
    // Under mutex_.
    NodeAmounts& FindOrAdd(ResourceKind kind) {
      return HasColumn(kind) ? amounts[kind] : rare.FindOrAdd(kind);
    }

    std::array<NodeAmounts, kColumnKinds> amounts;
    RareAmounts rare;                       // A kind is added under mutex_.
    std::atomic<uint64_t> node_version{0};  // Written under mutex_.
    ClusterNodeRef node;                    // Guarded by mutex_.
    std::string name;                       // Guarded by mutex_.
  };

  // Both under mutex_.
  uint32_t SlotFor(const std::string& name);
  uint32_t NewSlot();
  void Change(uint32_t slot, const ClusterNodeRef& node, const AmountsByKind& limits);
  void Note(uint32_t slot);

  mutable ResourceTable resources_;
  mutable std::mutex mutex_;  // Guards nodes, names and the order of the slots.
  std::unordered_map<std::string, uint32_t> by_name_;
  std::set<uint32_t> removed_;  // Slots without a node. Those without pods are used again.
  tbb::concurrent_vector<Slot> slots_;
  // Slots that are complete: a vector that grows counts elements that are still being made. Written
  // under mutex_. Release and acquire: a reader of the count sees the slots.
  std::atomic<size_t> slot_count_{0};
  // Each note: the low half of its place + 1, then the slot. Release and acquire: a reader of a
  // note sees the change before it.
  std::vector<std::atomic<uint64_t>> notes_;
  std::atomic<uint64_t> noted_{0};
};

}  // namespace schedq
