// How long something takes that is so short, and so frequent, that two looks at the clock each time
// would be felt: one in kTimesPerLook is measured, and what is measured stands for the others.
//
// When not to use it: for what is sometimes long. Nobody sees a long one between two short ones.
// Threads: any, concurrently; wait-free.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/base/atom.h"
#include "engine/base/time/time.h"

namespace schedq {

class SampledDuration {
 public:
  static constexpr uint32_t kTimesPerLook = 16;

  // Whether this time is to be measured. A thread counts its times of all such durations together.
  bool IsDue() const {
    thread_local uint32_t times = 0;
    return times++ % kTimesPerLook == 0 || LoadRelaxed(latest_ns_) == kNever;
  }
  void Set(Duration measured) { StoreRelaxed(latest_ns_, measured.count()); }
  Duration Latest() const { return Duration(LoadRelaxed(latest_ns_)); }

 private:
  static constexpr int64_t kNever = -1;

  // Written by whoever measured. Relaxed: whichever was measured lately.
  std::atomic<int64_t> latest_ns_{kNever};
};

}  // namespace schedq
