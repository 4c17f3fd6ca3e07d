// One stack and the means to leave it and come back: a thread of a model run.
//
// Purpose: a switch costs nanoseconds, so that a schedule costs microseconds.
// When not to use it: for anything that waits on the operating system; all fibers of a run share
// one OS thread, its thread_local variables and its exception state (do not let a step of the model
// happen inside a catch block).
// Invariants:
//   1. A fiber that is switched away from keeps its stack until Prepare() drops it; nothing on the
//      stack is destroyed then. Failed runs end that way.
//   2. AddressSanitizer and ThreadSanitizer are told of every switch.
// Memory bound: kStackBytes of address space a fiber, a guard page below.
#pragma once

#include <cstddef>

namespace schedq::model {

class Fiber {
 public:
  using Entry = void (*)(void*);

  // With a stack of its own, or (host) as the stand-in for the stack of whoever runs the model.
  enum class Kind { kOwnStack, kHost };
  explicit Fiber(Kind kind);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next switch to this fiber calls entry(argument), which never returns.
  void Prepare(Entry entry, void* argument);

  // Leaves `from`, which runs, for `to`; returns when somebody switches to `from`.
  static void Switch(Fiber& from, Fiber& to);

  struct Transfer;

 private:
  static void Arrive(const Transfer& transfer);
  friend struct FiberEntry;

  void* context_ = nullptr;
  void* mapping_ = nullptr;
  void* stack_ = nullptr;
  size_t stack_bytes_ = 0;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  void* fake_stack_ = nullptr;  // AddressSanitizer's
  void* tsan_fiber_ = nullptr;  // ThreadSanitizer's
};

}  // namespace schedq::model
