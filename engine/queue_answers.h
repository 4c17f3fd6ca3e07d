// What a Pop gives, and where a pod is: the answers of a scheduling queue.
#pragma once

#include <cstdint>

#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queueing_fields.h"

namespace schedq {

struct PoppedPod {
  PodRef pod;
  PodKey key;
  uint64_t cycle = 0;
  QueueingFields fields;
};

// Where a pod is and why.
struct PodWhereabouts {
  Place place = Place::kAbsent;
  PodRef pod;  // Null when absent.
  bool live = false;
  QueueingFields fields;
};

// How many pods are where.
struct QueueCounts {
  uint64_t active = 0;
  uint64_t backoff = 0;
  uint64_t error_backoff = 0;
  uint64_t unschedulable = 0;
  uint64_t gated = 0;
  uint64_t in_flight = 0;
  bool operator==(const QueueCounts&) const = default;
};

}  // namespace schedq
