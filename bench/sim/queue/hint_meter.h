// Counts how often hints are asked, and lets virtual time pass while they are.
//
// Purpose: wrap each plugin before it is registered; the judge of a virtual run then measures the
// durations of hints by Now(), which moves by the cost of one answer with each answer, so that its
// metrics depend on the cost model and not on the machine.
// Threads: one a meter; batches must not be judged in parallel.
#pragma once

#include <cstdint>

#include "engine/base/time/time.h"
#include "hints/plugin.h"

namespace schedq {

class HintMeter {
 public:
  explicit HintMeter(Duration cost) : cost_(cost) {}

  // The same plugin, counted. This meter must outlive it.
  Plugin Meter(Plugin plugin);

  uint64_t asked() const { return asked_; }

  // For JudgeOptions::now. Means something only as a difference, on one thread.
  static MonotonicTime Now();

 private:
  const Duration cost_;
  uint64_t asked_ = 0;
};

}  // namespace schedq
