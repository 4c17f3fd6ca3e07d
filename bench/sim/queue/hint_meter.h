// Counts the calls of hints, and gives each call a virtual duration.
//
// Purpose: the durations of hints in a virtual run depend on the cost model and not on the machine.
// Each plugin is wrapped before it is registered. The judge measures durations by Now(), which
// advances by the cost of one answer with each answer.
// Threads: one a meter; batches must not be judged in parallel.
#pragma once

#include <cstdint>

#include "engine/base/time/time.h"
#include "hints/plugin.h"

namespace schedq {

class HintMeter {
 public:
  explicit HintMeter(Duration cost) : cost_(cost) {}

  // Wraps the plugin so that its calls are counted. The meter must outlive the result.
  Plugin Meter(Plugin plugin);

  uint64_t asked() const { return asked_; }

  // The clock of JudgeOptions::now. Only differences on one thread are meaningful.
  static MonotonicTime Now();

 private:
  const Duration cost_;
  uint64_t asked_ = 0;
};

}  // namespace schedq
