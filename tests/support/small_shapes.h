// Small dimensions of concurrent structures, so that a test of a few hundred entries crosses every
// border and reuses memory all the time.
#pragma once

#include <cstdint>

#include "engine/lockfree/active/active_queue.h"

namespace schedq {

// A test that needs other values derives a shape of its own.
struct SmallActiveQueueShape : ActiveQueueShape {
  static constexpr uint32_t kSegmentEntries = 4;
  static constexpr uint32_t kRunsPerLane = 3;
  static constexpr uint32_t kLanesAtOnce = 2;
  static constexpr uint32_t kLanesMax = 2;
  static constexpr uint32_t kBucketEntries = 16;
  static constexpr uint32_t kBagEntries = 2;
  static constexpr uint32_t kPopsPerSweep = 2;
};

}  // namespace schedq
