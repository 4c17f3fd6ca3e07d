// Lets other threads run in the middle of operations, more often than a machine would.
//
// Purpose: stress runs of classes with the Atom stall::Atomic. On a machine of few cores a thread
// is rarely stopped within an operation, which is where faults show.
// When not to use it: with fewer threads than cores; then a thread that yields goes on at once.
// Allowed threads: an object belongs to the thread that made it.
#pragma once

#include <cstdint>
#include <thread>

#include "engine/base/random.h"
#include "tests/support/stall/atomic.h"

namespace schedq {

// From its construction to its end, the thread yields before one in `steps` of its atomic
// operations.
class Yielding final : public stall::Freezer {
 public:
  Yielding(uint64_t seed, uint64_t steps) : random_(seed), steps_(steps) { stall::freezer = this; }
  Yielding(const Yielding&) = delete;
  Yielding& operator=(const Yielding&) = delete;
  ~Yielding() { stall::freezer = nullptr; }

  void Step() override {
    if (random_.Below(steps_) == 0) std::this_thread::yield();
  }

 private:
  Random random_;
  const uint64_t steps_;
};

}  // namespace schedq
