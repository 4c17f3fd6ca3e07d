// Vector clocks of the model: the steps of other threads that a thread knows of.
//
// Purpose: a clock has one counter a thread. Every step of a thread ticks its own counter.
// Operations that pass knowledge on (release and acquire, spawn and join) join clocks.
// When not to use it: outside the model.
// Memory bound: kFibersMax counters a clock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace schedq::model {

// The largest number of threads of a model run, with the body's own.
inline constexpr uint32_t kFibersMax = 8;
// Stands for an epoch or an operation that never comes.
inline constexpr uint32_t kNever = UINT32_MAX;

struct Clock {
  std::array<uint32_t, kFibersMax> at{};

  static Clock Never() {
    Clock clock;
    clock.at.fill(kNever);
    return clock;
  }

  void Join(const Clock& other) {
    for (uint32_t i = 0; i < kFibersMax; ++i) at[i] = std::max(at[i], other.at[i]);
  }

  // Whether every counter is at most that of `other`.
  bool Within(const Clock& other) const {
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < kFibersMax; ++i) beyond |= at[i] > other.at[i];
    return beyond == 0;
  }

  // Whether some counter has been reached by `other`.
  bool ReachedBy(const Clock& other) const {
    uint32_t reached = 0;
    for (uint32_t i = 0; i < kFibersMax; ++i) reached |= at[i] <= other.at[i];
    return reached != 0;
  }
};

// The knowledge that one thread passes to another when they synchronise: happens-before.
struct View {
  Clock ordered;

  void Join(const View& other) { ordered.Join(other.ordered); }
};

}  // namespace schedq::model
