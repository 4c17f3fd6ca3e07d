// How far a run has come, for those who watch it.
#pragma once

#include <cstdint>

#include "engine/base/time/time.h"
#include "engine/queue_answers.h"

namespace schedq {

struct RunProgress {
  Duration elapsed{};  // On the run's clock.
  uint64_t bound = 0;  // Pods that got a node.
  QueueCounts queue;   // On the real clock.
};

}  // namespace schedq
