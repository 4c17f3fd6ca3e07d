// The duration of something so short and so frequent that two readings of the clock each time would
// cost too much. One time in kTimesPerSample is measured, and the latest sample stands for the
// times that are not.
//
// When not to use it: for what sometimes takes long. A long one between two samples is not seen.
// Threads: any, concurrently; wait-free, no allocation.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/base/atom.h"
#include "engine/base/time/time.h"

namespace schedq {

// A measured duration and its bucket in a histogram, which takes longer to find than to count in.
struct DurationSample {
  Duration duration{};
  size_t bucket = 0;  // Below 256; 0 where the user has no need of it.
};

template <uint32_t kTimesPerSample>
class SampledDuration {
 public:
  // Whether the calling thread's next time is one in kTimesPerSample. A thread counts its times of
  // all durations with the same kTimesPerSample together.
  static bool CountTime() {
    thread_local uint32_t times = 0;
    return times++ % kTimesPerSample == 0;
  }

  // Whether this time is to be measured: always until there is a sample.
  bool IsDue() const { return CountTime() || !IsKnown(); }
  bool IsKnown() const { return LoadRelaxed(latest_) != kNone; }
  void Set(DurationSample sample) {
    StoreRelaxed(latest_, static_cast<uint64_t>(sample.duration.count()) << kBucketBits |
                              static_cast<uint64_t>(sample.bucket));
  }
  // There is a sample.
  DurationSample Latest() const {
    const uint64_t latest = LoadRelaxed(latest_);
    return {Duration(latest >> kBucketBits), latest & kBucketMask};
  }

 private:
  static constexpr int kBucketBits = 8;
  static constexpr uint64_t kBucketMask = (uint64_t{1} << kBucketBits) - 1;
  static constexpr uint64_t kNone = ~uint64_t{0};

  // Written by each thread that measured. Relaxed: any of the latest samples will do.
  std::atomic<uint64_t> latest_{kNone};
};

}  // namespace schedq
