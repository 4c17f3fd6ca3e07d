// How a run on the real clock goes, in a few words: its rate and where pods wait.
// Threads: one.
#pragma once

#include <string>

#include "bench/sim/run/run_progress.h"

namespace schedq {

class RealProgress {
 public:
  // "12.3 s, 48,211 pods/s, active 1,203, backoff 0, unschedulable 12, gated 0". The rate is that
  // of the last half second or more.
  std::string Text(const RunProgress& progress);

 private:
  RunProgress since_;
  double pods_per_second_ = 0;
};

}  // namespace schedq
