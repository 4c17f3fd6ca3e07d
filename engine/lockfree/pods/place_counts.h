// How many pods are in each place.
//
// Purpose: the thread that moved a pod counts it, in a shard of its own. What came to a place and
// what went are counted apart, so that a count is never below zero.
// Threads: all operations from any thread, wait-free. A count taken while pods move is not a
// snapshot: a pod that moves meanwhile may be counted twice, and one whose mover has not told yet
// may be left out, or leave out another one. A pod that stays is counted but for that. When nothing
// moves, counts are exact.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/metrics/metric_cells.h"
#include "engine/place.h"
#include "engine/queue_answers.h"

namespace schedq {

class PlaceCounts {
 public:
  PlaceCounts() : cells_(2 * kPlaceCount) {}

  // Inlined, as QueueMetrics::AddIncoming is.
  [[gnu::always_inline]] void Move(Place from, Place to, uint64_t pods = 1) const {
    if (from == to) return;
    const size_t went = CellOf(from) + 1;
    const auto distance = static_cast<ptrdiff_t>(CellOf(to)) - static_cast<ptrdiff_t>(went);
    cells_.At(went).AddTwo(pods, distance, pods);
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
  // Pods that came, and behind it those that went.
  static size_t CellOf(Place place) { return 2 * static_cast<size_t>(place); }
  uint64_t At(Place place) const { return CountThere(cells_.At(CellOf(place))); }

  MetricCellBlock cells_;
};

}  // namespace schedq
