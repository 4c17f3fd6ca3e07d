// What an operation is to a pod that it moves: what metrics and observers are told of the move.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

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
  uint32_t Note() const { return std::bit_cast<uint32_t>(*this); }
  static MoveCause From(uint32_t note) { return std::bit_cast<MoveCause>(note); }
};
static_assert(std::has_unique_object_representations_v<MoveCause>, "a note has all of it");

inline Place PlaceNamedBy(Verdict verdict) {
  if (verdict == Verdict::kSkip) return Place::kUnschedulable;
  return verdict == Verdict::kAfterBackoff ? Place::kBackoff : Place::kActive;
}

}  // namespace schedq
