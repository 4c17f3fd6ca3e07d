// The stall test: one real thread is frozen at a random atomic step, and all other threads must
// finish new operations.
//
// Purpose: evidence that operations are lock-free. A round builds a fresh subject and runs
// operations on all threads. It freezes one thread, the victim, before its k-th atomic step, and
// every other thread must complete new operations. Then the victim continues, and the subject
// checks itself.
// When not to use it: for operations that may block by design. Where the test fits the model,
// model::ExhaustStalls tries every step instead of random ones.
// Allowed threads: one caller; the harness starts and joins its own.
// Time bound: a round that passes takes as long as its operations. A blocked round ends the whole
// run after Options::block_timeout.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "tests/support/stall/atomic.h"  // IWYU pragma: keep

namespace schedq::stall {

// The subject of a round: one structure, instantiated with stall::Atomic.
class Subject {
 public:
  virtual ~Subject() = default;
  // Runs one operation, or a few that belong together. `turn` counts the thread's calls from 0.
  virtual void Operate(uint32_t thread, uint64_t turn) = 0;
  // Called after all threads were joined. Returns what is wrong; empty: nothing.
  virtual std::string Check() = 0;
};
using MakeSubject = std::function<std::unique_ptr<Subject>()>;

struct Options {
  uint32_t threads = 3;
  uint32_t rounds = 50;
  // The operations that each other thread must complete while the victim is frozen.
  uint64_t operations = 200;
  uint64_t seed = 1;
  // The freeze falls on a step within this many of the victim's first operations.
  uint64_t operations_before_freeze = 8;
  // The other threads count as blocked when they take longer than this. Only a run that fails waits
  // so long, so the value may be generous.
  std::chrono::milliseconds block_timeout{10'000};
};

struct Report {
  uint32_t rounds = 0;
  uint64_t operations = 0;  // Completed while a victim was frozen.
  uint64_t steps_seen = 0;  // The largest step at which a victim was frozen.
  std::string failure;      // Empty when every round passed.

  bool passed() const { return failure.empty(); }
};
std::ostream& operator<<(std::ostream& out, const Report& report);

Report Run(const Options& options, const MakeSubject& make_subject);

}  // namespace schedq::stall
