// What one node has of rare kinds of resources (resource_table.h), and what is taken of them.
//
// Purpose: few nodes have any, and each has few, so a node keeps a list of those that it has.
// When not to use it: for kinds that have a column.
// Threads: FindOrAdd one at a time; all others any, without a lock and without waiting, beside it.
// Invariants:
//  1. A kind is in the list once, and stays.
//  2. The amounts of a kind stay where they are.
// Cost: a lookup takes a step for each kind that the node has.
// Memory: one record for each kind that the node has had, or that a pod on it asks for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "bench/sim/placing/resource_table.h"

namespace schedq {

// Of one kind.
struct NodeAmounts {
  // Both are written by any thread. Relaxed: a sum needs no order, and a reader that sees a stale
  // one is corrected by the ledger's note that follows each change (node_ledger.h).
  std::atomic<int64_t> used{0};
  std::atomic<int64_t> limit{0};
};

class RareAmounts {
 public:
  RareAmounts() = default;
  RareAmounts(const RareAmounts&) = delete;
  RareAmounts& operator=(const RareAmounts&) = delete;
  ~RareAmounts() {
    for (const Entry* entry = First(); entry != nullptr;) {
      const std::unique_ptr<const Entry> gone(entry);
      entry = entry->next;
    }
  }

  // Null: the node has none, and no pod on it asks for any.
  NodeAmounts* Find(ResourceKind kind) {
    for (Entry* entry = First(); entry != nullptr; entry = entry->next) {
      if (entry->kind == kind) return &entry->amounts;
    }
    return nullptr;
  }
  NodeAmounts& FindOrAdd(ResourceKind kind) {
    if (NodeAmounts* const found = Find(kind)) return *found;
    auto entry = std::make_unique<Entry>(kind, First());
    // Pairs with the load in First: without it, a reader could see an entry that is half made.
    first_.store(entry.get(), std::memory_order_release);
    return entry.release()->amounts;
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (Entry* entry = First(); entry != nullptr; entry = entry->next) {
      visit(entry->kind, entry->amounts);
    }
  }

 private:
  struct Entry {
    Entry(ResourceKind kind_of, Entry* next_entry) : kind(kind_of), next(next_entry) {}

    const ResourceKind kind;
    Entry* const next;
    NodeAmounts amounts;
  };

  Entry* First() const { return first_.load(std::memory_order_acquire); }

  std::atomic<Entry*> first_{nullptr};  // Written by FindOrAdd alone; the latest entry first.
};

}  // namespace schedq
