// A sampling profiler: a timer interrupts the calling thread, and notes what it was doing.
//
// Purpose: where the time goes, without another program and without slowing the work by more than
// about one percent. When not to use it: for counts or small differences; callgrind is exact.
// Threads: the thread that constructs it is the one that is sampled, and finishes it. One sampler
// at a time in a process.
// Invariants:
//  1. A sample is a stack below the frame that constructed the sampler.
//  2. The handler allocates nothing, locks nothing and stops when its memory is full.
// Memory: at most kSamplesMax stacks of kDepthMax addresses.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "perf/documents/profile_document.h"

namespace schedq {

class TimeSampler {
 public:
  static constexpr size_t kSamplesMax = 20'000;
  static constexpr int kDepthMax = 48;

  TimeSampler();
  ~TimeSampler();
  TimeSampler(const TimeSampler&) = delete;
  TimeSampler& operator=(const TimeSampler&) = delete;

  // Stops and sums up. `size` is left to the caller; no functions when nothing was sampled, also
  // where the kernel gave no timer.
  HotSpots Finish();

 private:
  struct Stack {
    int first = 0;  // The frame that was interrupted; before it are the handler's.
    int depth = 0;
    std::array<void*, kDepthMax> frames;
  };

  static void OnTimer(int signal, siginfo_t* info, void* context);
  void TakeSample(const void* interrupted);
  void Stop();

  std::vector<Stack> stacks_;  // Of full size from the start: the handler must not allocate.
  size_t count_ = 0;           // Written by the handler, read when the timer has stopped.
  int frames_above_ = 0;       // Of the constructor's caller, and those that called it.
  bool is_running_ = false;
  timer_t timer_{};
};

// Shares from counts: the functions with the largest share of their own first, at most `limit`.
std::vector<HotSpot> RankHotSpots(const std::map<std::string, uint64_t>& self,
                                  const std::map<std::string, uint64_t>& inclusive, uint64_t total,
                                  size_t limit = 12);

}  // namespace schedq
