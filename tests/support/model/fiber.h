// A fiber: one stack that can be left and resumed. Each thread of a model run is one.
//
// Purpose: a switch takes nanoseconds, so that a schedule takes microseconds.
// When not to use it: for code that waits for the operating system. All fibers of a run share one
// OS thread, its thread_local variables and its exception state; no step of the model may therefore
// be inside a catch block.
// Invariants:
//   1. A fiber that is switched away from keeps its stack until Prepare() drops it without running
//      destructors. Failed runs end that way.
//   2. Every switch is announced to AddressSanitizer and ThreadSanitizer.
// Memory bound: kStackBytes of address space a fiber, with a guard page below.
#pragma once

#include <cstddef>

namespace schedq::model {

class Fiber {
 public:
  using Entry = void (*)(void*);

  // kOwnStack has a stack of its own. kHost stands for the stack of the thread that runs the model.
  enum class Kind { kOwnStack, kHost };
  explicit Fiber(Kind kind);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next switch to this fiber calls entry(argument), which never returns.
  void Prepare(Entry entry, void* argument);

  // Switches from the running fiber `from` to `to`. Returns when a fiber switches to `from` again.
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
  void* fake_stack_ = nullptr;  // For AddressSanitizer.
  void* tsan_fiber_ = nullptr;  // For ThreadSanitizer.
};

}  // namespace schedq::model
