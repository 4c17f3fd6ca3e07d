// Times a probe's inner loop.
#pragma once

#include <chrono>

namespace schedq {

using FloorClock = std::chrono::steady_clock;

// Nanoseconds that `work` takes, divided by `operations`.
template <typename Work>
double NanosecondsEach(double operations, Work&& work) {
  const FloorClock::time_point start = FloorClock::now();
  work();
  const std::chrono::duration<double, std::nano> elapsed = FloorClock::now() - start;
  return elapsed.count() / operations;
}

// Makes the compiler believe that `value` is used and may have changed.
template <typename T>
void KeepValue(T& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

}  // namespace schedq
