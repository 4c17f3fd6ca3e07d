// A sampling profiler: a timer interrupts the calling thread and records its stack.
//
// Purpose: where the time goes, without another program, at the cost of about one percent.
// When not to use it: for counts or small differences; callgrind is exact.
// Threads: the thread that constructs a sampler is sampled and finishes it. A process has one
// sampler at a time.
// Invariants:
//  1. A sample is a stack below the frame that constructed the sampler. Where the timer meets the
//     unwinder of exceptions at work, it is the interrupted function alone: the unwinder changes
//     its own frames, so that nobody can walk through them.
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

  // Stops, and returns the shares of functions; the caller sets `size`. There are no functions
  // where no sample was taken or the kernel gave no timer.
  HotSpots Finish();

 private:
  struct AddressRange {
    uintptr_t begin = 0;
    uintptr_t end = 0;

    bool Contains(const void* address) const {
      const auto at = reinterpret_cast<uintptr_t>(address);
      return begin <= at && at < end;
    }
  };
  struct Stack {
    int first = 0;  // The interrupted frame; the handler's frames are before it.
    int end = 0;    // Behind the last frame below the constructor's caller.
    std::array<void*, kDepthMax> frames;
  };

  static AddressRange CodeWith(const void* address);
  static void OnTimer(int signal, siginfo_t* info, void* context);
  // `caller`: where the interrupted function returns to, if it is one without a frame.
  void TakeSample(const void* interrupted, const void* caller);
  void Stop();

  std::vector<Stack> stacks_;  // Has its full size from the start: the handler must not allocate.
  size_t count_ = 0;           // The handler writes it; it is read after the timer has stopped.
  AddressRange unwinder_;      // The code that throws exceptions.
  int frames_above_ = 0;       // The number of frames from the constructor's caller upwards.
  bool is_running_ = false;
  timer_t timer_{};
};

// Computes shares from counts. The functions with the largest share of their own stand first; at
// most `limit` are returned.
std::vector<HotSpot> RankHotSpots(const std::map<std::string, uint64_t>& self,
                                  const std::map<std::string, uint64_t>& inclusive, uint64_t total,
                                  size_t limit = 12);

}  // namespace schedq
