// The element of the priority-queue benchmarks: 24 bytes with the fields that the scheduling queue
// sorts by.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace schedq {

struct QueueKey {
  int32_t priority = 0;
  uint64_t timestamp = 0;  // Unique in a workload, so that the order of pops is unique.
  uint64_t identity = 0;   // Stands for the pod of a real entry.

  // The greatest key is popped first: highest priority, then oldest.
  friend constexpr std::weak_ordering operator<=>(const QueueKey& a, const QueueKey& b) {
    if (a.priority != b.priority) return a.priority <=> b.priority;
    return b.timestamp <=> a.timestamp;
  }
  friend constexpr bool operator==(const QueueKey& a, const QueueKey& b) {
    return a.priority == b.priority && a.timestamp == b.timestamp;
  }
};

static_assert(sizeof(QueueKey) == 24, "the workload of anchors.json has keys of 24 bytes");

}  // namespace schedq

// folly's mound needs the least key.
template <>
class std::numeric_limits<schedq::QueueKey> : public std::numeric_limits<int> {
 public:
  static constexpr schedq::QueueKey min() {
    return {std::numeric_limits<int32_t>::min(), std::numeric_limits<uint64_t>::max(), 0};
  }
};
