// The stall test: one real thread is frozen at a random atomic step, and everybody else must go on.
//
// Purpose: evidence that operations which call themselves lock-free are. A round builds a fresh
// subject, runs operations on all threads, freezes the victim before its k-th atomic step, and asks
// every other thread for new operations while it is frozen; then the victim goes on and the subject
// checks itself.
// When not to use it: for operations that may block by design. Where the test fits the model,
// model::ExhaustStalls tries every step instead of random ones.
// Allowed threads: one caller; it starts and joins its own.
// Time bound: a round that passes takes as long as its operations; a blocked one is given up, and
// the whole run with it, after Options::patience.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "tests/support/stall/atomic.h"

namespace schedq::stall {

// What a round tests: one structure, instantiated with stall::Atomic.
class Subject {
 public:
  virtual ~Subject() = default;
  // One operation, or a few that belong together. `turn` counts the thread's calls from 0.
  virtual void Operate(uint32_t thread, uint64_t turn) = 0;
  // Called once all threads have been joined. Returns what is wrong, or nothing.
  virtual std::string Check() = 0;
};
using MakeSubject = std::function<std::unique_ptr<Subject>()>;

struct Options {
  uint32_t threads = 3;
  uint32_t rounds = 50;
  // Operations that each other thread must complete while the victim is frozen.
  uint64_t operations = 200;
  uint64_t seed = 1;
  // The freeze falls on a step within this many of the victim's first operations.
  uint64_t operations_before_freeze = 8;
  // How long the others may go without completing theirs before they count as blocked. Only a
  // subject that is not lock-free waits for it, so it may be generous.
  std::chrono::milliseconds patience{10'000};
};

struct Report {
  uint32_t rounds = 0;
  uint64_t operations = 0;  // completed while a victim was frozen
  uint64_t steps_seen = 0;  // the largest step at which a victim was frozen
  std::string failure;      // empty when every round passed

  bool passed() const { return failure.empty(); }
};
std::ostream& operator<<(std::ostream& out, const Report& report);

Report Run(const Options& options, const MakeSubject& make_subject);

}  // namespace schedq::stall
