// Vector clocks of the model: what a thread knows of the others.
//
// Purpose: one counter a thread. Every step of a thread ticks its own counter; whatever passes
// knowledge on (release and acquire, spawn and join) joins clocks.
// When not to use it: outside the model; the engine has no use for it.
// Memory bound: kFibersMax counters a clock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace schedq::model {

// Threads of one model run, the body's own thread included.
inline constexpr uint32_t kFibersMax = 8;
// An epoch or a step that never came.
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

// All that one thread hands another when they synchronise. `ordered` is happens-before, by which
// races are judged. `seen` is at least as much: it also holds what sequentially consistent fences
// force to be visible without ordering plain accesses. `fence` is the step of the latest such fence
// that came before.
struct View {
  Clock ordered;
  Clock seen;
  uint32_t fence = 0;

  void Join(const View& other) {
    ordered.Join(other.ordered);
    seen.Join(other.seen);
    fence = std::max(fence, other.fence);
  }
};

}  // namespace schedq::model
