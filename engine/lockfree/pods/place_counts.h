// How many pods are in each place. Sharded by thread: a count taken while pods move is not a
// snapshot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/metrics/metric_cells.h"
#include "engine/place.h"
#include "engine/queue_answers.h"

namespace schedq {

class PlaceCounts {
 public:
  PlaceCounts() : cells_(kPlaceCount) {}

  void Move(Place from, Place to, uint64_t pods = 1) const {
    if (from == to) return;
    const auto distance = static_cast<ptrdiff_t>(to) - static_cast<ptrdiff_t>(from);
    cells_.At(static_cast<size_t>(from)).AddTwo(-pods, distance, pods);
  }

  QueueCounts Read() const {
    return {.active = At(Place::kActive),
            .backoff = At(Place::kBackoff),
            .error_backoff = At(Place::kErrorBackoff),
            .unschedulable = At(Place::kUnschedulable),
            .gated = At(Place::kGated),
            .in_flight = At(Place::kInFlight)};
  }

 private:
  uint64_t At(Place place) const { return cells_.At(static_cast<size_t>(place)).Sum(); }

  MetricCellBlock cells_;
};

}  // namespace schedq
