// The kinds of resources of a run, as small numbers: columns of nodes are arrays by kind.
//
// Threads: any. A kind that is known is found without a lock; a new one is added under one.
// Invariant: a number never changes its name.
// Memory: kResourceKindsMax names. A kind beyond them has no number: a node has nothing of it, and
// no pod that asks for it fits.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

inline constexpr size_t kResourceKindsMax = 18;

// The first kinds of every table.
inline constexpr uint8_t kPodsResource = 0;
inline constexpr uint8_t kCpuResource = 1;
inline constexpr uint8_t kMemoryResource = 2;
// What scores count for containers that request none (PodObject). No node limits these.
inline constexpr uint8_t kAssumedCpu = 3;
inline constexpr uint8_t kAssumedMemory = 4;

// What a pod takes of its node: itself as one of the node's pods, and its requests above 0.
struct NodeDemand {
  struct Part {
    uint8_t kind = 0;
    int64_t amount = 0;
    bool operator==(const Part&) const = default;
  };

  std::array<Part, kResourceKindsMax> parts;
  uint8_t count = 0;
  bool fits_nowhere = false;  // It asks for a kind that has no number.

  const Part* begin() const { return parts.data(); }
  const Part* end() const { return parts.data() + count; }
  int64_t AmountOf(uint8_t kind) const {
    const Part* const part =
        std::find_if(begin(), end(), [kind](const Part& each) { return each.kind == kind; });
    return part == end() ? 0 : part->amount;
  }
  bool operator==(const NodeDemand& other) const {
    return fits_nowhere == other.fits_nowhere &&
           std::equal(begin(), end(), other.begin(), other.end());
  }
};

class ResourceTable {
 public:
  ResourceTable();

  std::optional<uint8_t> Find(std::string_view name) const;
  // The number of the kind; nullopt: the table is full.
  std::optional<uint8_t> FindOrAdd(std::string_view name);
  // The same for a pod at any time: kinds that no node has named yet get their numbers.
  NodeDemand DemandOf(const ClusterPod& pod);
  size_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  std::mutex adding_;
  std::array<std::string, kResourceKindsMax> names_;
  // Written under adding_, after the name. Release and acquire: a reader of the size sees the
  // names.
  std::atomic<size_t> size_{0};
};

}  // namespace schedq
