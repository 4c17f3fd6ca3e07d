// What an operation is to a pod that it moves: what metrics and observers are told of the move.
#pragma once

#include <cstdint>

#include "engine/event.h"
#include "engine/place.h"
#include "engine/ports.h"

namespace schedq {

struct MoveCause {
  EventLabel label = kNoLabel;
  // Events and flushes take a pod out of the pool first: one that is gated again counts again.
  bool takes_out_first = false;
  // The place that a verdict has named, for both queues of backoff and both places of the pool.
  Place named = Place::kAbsent;

  // As a move's note (unfinished_moves.h), and back.
  uint32_t Note() const {
    return uint32_t{label} << 8 | static_cast<uint32_t>(named) << 1 | uint32_t{takes_out_first};
  }
  static MoveCause From(uint32_t note) {
    return {static_cast<EventLabel>(note >> 8), (note & 1) != 0,
            static_cast<Place>(note >> 1 & 0x7f)};
  }
};

inline Place PlaceNamedBy(Verdict verdict) {
  if (verdict == Verdict::kSkip) return Place::kUnschedulable;
  return verdict == Verdict::kAfterBackoff ? Place::kBackoff : Place::kActive;
}

}  // namespace schedq
