// What observers are to be told once an operation is over.
//
// Purpose: an observer may throw. One that is told after the whole operation has taken effect
// cannot stop it half way.
// Threads: one.
// Memory: what the last operations told; nothing without observers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/event.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"

namespace schedq {

struct Told {
  enum class What : uint8_t { kGated, kPassed, kMoved, kPopped, kDeleted };

  What what;
  PodRef pod;
  PodMove move;
  PluginId plugin = kNoPlugin;
  Place from = Place::kAbsent;
  Place to = Place::kAbsent;
  EventLabel label = kNoLabel;
  uint32_t attempts = 0;
};

// Tells every observer all of it, in order. Throws what the first of them threw, or the explanation
// of a rejection, after all others were told.
void TellAll(std::span<const Told> all, const PreEnqueueCheck& pre_enqueue,
             std::span<QueueObserver* const> observers);

}  // namespace schedq
