// The kinds of resources of a run, as small numbers, and what a pod takes of each.
//
// Purpose: the first kColumnKinds kinds have columns (node_columns.h), which are arrays by kind.
// There may be any number of further kinds, such as one that each node has for itself: these are
// rare kinds, kept by the nodes that have them (rare_amounts.h).
// Threads: any. A kind that is known is found without a lock; a new one is added under one.
// Invariants:
//  1. A number never changes its name.
//  2. A kind has a column where its number is below kColumnKinds, and only there.
// Memory: a name a kind.
#pragma once

#include <tbb/concurrent_unordered_map.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

using ResourceKind = uint32_t;

inline constexpr size_t kColumnKinds = 16;

// The first kinds of every table.
inline constexpr ResourceKind kPodsResource = 0;
inline constexpr ResourceKind kCpuResource = 1;
inline constexpr ResourceKind kMemoryResource = 2;
// What scores count for containers that request none (PodObject). No node limits these.
inline constexpr ResourceKind kAssumedCpu = 3;
inline constexpr ResourceKind kAssumedMemory = 4;

constexpr bool HasColumn(ResourceKind kind) { return kind < kColumnKinds; }

// What a pod takes of its node: itself as one of the node's pods, and its requests above 0.
struct NodeDemand {
  struct Part {
    ResourceKind kind = 0;
    int64_t amount = 0;
    bool operator==(const Part&) const = default;
  };

  std::array<Part, kColumnKinds> parts;  // Of kinds with columns.
  uint32_t count = 0;
  bool fits_nowhere = false;  // It asks for pods.
  std::vector<Part> rare;     // Of rare kinds.

  // Of kinds with columns.
  const Part* begin() const { return parts.data(); }
  const Part* end() const { return parts.data() + count; }
  template <typename Visit>
  void ForEachPart(Visit visit) const {
    std::for_each(begin(), end(), visit);
    std::for_each(rare.begin(), rare.end(), visit);
  }
  int64_t AmountOf(ResourceKind kind) const {
    const Part* const part =
        std::find_if(begin(), end(), [kind](const Part& each) { return each.kind == kind; });
    if (part != end()) return part->amount;
    return rare.empty() ? 0 : RareAmountOf(kind);
  }
  bool operator==(const NodeDemand& other) const {
    return fits_nowhere == other.fits_nowhere &&
           std::equal(begin(), end(), other.begin(), other.end()) && rare == other.rare;
  }
  int64_t RareAmountOf(ResourceKind kind) const;
};

class ResourceTable {
 public:
  ResourceTable();

  std::optional<ResourceKind> Find(const std::string& name) const;
  ResourceKind FindOrAdd(const std::string& name);
  // The same for a pod at any time: kinds that no node has named yet get their numbers.
  NodeDemand DemandOf(const ClusterPod& pod);
  // How many kinds have columns by now.
  size_t columns() const { return columns_.load(std::memory_order_acquire); }
  // How many there are in all.
  size_t size() const { return columns() + rare_.size(); }

 private:
  std::mutex adding_;
  std::array<std::string, kColumnKinds> names_;
  // Written under adding_, after the name. Release and acquire: a reader of the number sees the
  // names.
  std::atomic<size_t> columns_{0};
  tbb::concurrent_unordered_map<std::string, ResourceKind> rare_;  // Written under adding_.
};

}  // namespace schedq
