// One object's turn: one thread at a time works on the object's state, and no thread waits for it.
//
// Purpose: plain state of one object that any thread may change without waiting. A thread that
// finds the turn free takes it. A thread that finds it taken hands its operation over, and the
// thread that has the turn carries that operation out before it ends the turn. The rules of the
// object therefore read as on one thread.
// When not to use it: for work that is long, or that must be done when the caller returns.
// Threads: any. Taking the turn and handing over are lock-free: an exchange fails only because
// another thread's exchange succeeded. End repeats once for each batch of operations that other
// threads handed over meanwhile.
// Invariants:
//  1. At most one thread has the turn. What it did in its turn happens before what the next one
//     does.
//  2. An operation is carried out exactly once, after all that were handed over before it.
// Memory: a word, and an operation on the heap for each that was handed over and not carried out.
// Source: the serializing drain loop of reactive libraries; D. Hendler, I. Incze, N. Shavit and M.
// Tzafrir, Flat Combining and the Synchronization-Parallelism Tradeoff, 2010.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/atom.h"

namespace schedq {

// `Operation` has a member `Operation* next`, which the turn uses while the operation is handed
// over.
template <typename Operation, template <typename> class Atom = std::atomic>
class ObjectTurn {
 public:
  ObjectTurn() = default;
  ObjectTurn(const ObjectTurn&) = delete;
  ObjectTurn& operator=(const ObjectTurn&) = delete;

  // True: the caller has the turn. False: another thread has it. Wait-free.
  bool TryBegin() {
    uintptr_t state = kFree;
    // Acquire pairs with the release in TryEnd: without it the object's state could be stale.
    return state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // True: all that was handed over before has been carried out, and the caller sees what that did.
  // Wait-free.
  bool IsFree() const { return LoadToSee() == kFree; }

  // True: the caller has the turn, and carries out the operation itself. False: the operation was
  // handed over.
  bool BeginOrHandOver(std::unique_ptr<Operation>& operation) {
    uintptr_t state = LoadState();
    for (;;) {
      if (state == kFree) {
        if (ExchangeToBegin(state)) return true;
        continue;
      }
      operation->next = state == kTaken ? nullptr : reinterpret_cast<Operation*>(state);
      if (ExchangeToHandOver(state, operation.get())) {
        operation.release();
        return false;
      }
    }
  }

  // Carries out what was handed over, oldest first, and ends the turn when there is nothing more.
  template <typename CarryOut>
  void End(const CarryOut& carry_out) {
    if (!TryEnd()) EndAfterOperations(carry_out);
  }

 private:
  static constexpr uintptr_t kFree = 0;
  static constexpr uintptr_t kTaken = 1;  // Any other value: taken, and the newest operation.

  bool TryEnd() {
    uintptr_t state = kTaken;
    // Release pairs with the acquire of the thread that takes the turn next: without it that thread
    // could still see the object's state as it was before.
    return state_.compare_exchange_strong(state, kFree, std::memory_order_release,
                                          std::memory_order_relaxed);
  }

  // A function of its own, because it is rare.
  template <typename CarryOut>
  [[gnu::noinline]] void EndAfterOperations(const CarryOut& carry_out) {
    do {
      // Acquire pairs with the release of the threads that handed operations over.
      Operation* newest =
          reinterpret_cast<Operation*>(state_.exchange(kTaken, std::memory_order_acquire));
      Operation* oldest = nullptr;
      while (newest != nullptr) {
        Operation* older = std::exchange(newest->next, oldest);
        oldest = std::exchange(newest, older);
      }
      while (oldest != nullptr) {
        const std::unique_ptr<Operation> operation(std::exchange(oldest, oldest->next));
        carry_out(*operation);
      }
    } while (!TryEnd());
  }

  uintptr_t LoadState() const { return LoadRelaxed(state_); }
  // Acquire pairs with the release in TryEnd: without it the caller might not see what was done.
  uintptr_t LoadToSee() const { return LoadAcquire(state_); }
  // Acquire pairs with the release in TryEnd, as in TryBegin.
  bool ExchangeToBegin(uintptr_t& free) {
    return state_.compare_exchange_weak(free, kTaken, std::memory_order_acquire,
                                        std::memory_order_relaxed);
  }
  // Release pairs with the acquire in EndAfterOperations: without it the operation could be carried
  // out before it was written. A newer operation keeps it published, for that is an exchange too.
  bool ExchangeToHandOver(uintptr_t& newest, Operation* operation) {
    return state_.compare_exchange_weak(newest, reinterpret_cast<uintptr_t>(operation),
                                        std::memory_order_release, std::memory_order_relaxed);
  }

  // Written by each thread that takes or ends the turn or hands an operation over. A thread that
  // read a stale value fails its exchange.
  Atom<uintptr_t> state_;
};

}  // namespace schedq
