// The classic engine's record of one incarnation of a pod. Guarded by the engine's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "engine/classic/in_flight_log.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queueing_fields.h"

namespace schedq {

inline constexpr size_t kNotInHeap = ~size_t{0};

// Invariants:
//  1. An entity exists while it is live, queued or in flight.
//  2. `queued` is a place of a queue or kAbsent. `in_flight` says whether the pod is in flight,
//     because a pod that was deleted and added anew under its uid is both queued and in flight.
struct Entity {
  PodRef pod;  // The newest version that the queue was told of.
  PodKey key;
  QueueingFields fields;
  Place queued = Place::kAbsent;
  bool live = false;
  size_t heap_position = kNotInHeap;
  // The priority that it is sorted by: that of its version when it entered its queue or was updated
  // there. An update does not sort a pod again that is in flight too.
  int32_t sorted_priority = 0;
  std::optional<InFlightLog::Position> in_flight;
  // The fields as they were when the pod was popped: Fail continues from them.
  QueueingFields popped_fields;
  // An older incarnation under the same name that is still in flight.
  Entity* older = nullptr;

  Place Shown() const {
    if (queued != Place::kAbsent) return queued;
    return in_flight ? Place::kInFlight : Place::kAbsent;
  }
};

}  // namespace schedq
