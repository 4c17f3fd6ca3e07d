// One object's turn: whoever finds it free goes in, and whoever finds it taken leaves a note.
//
// Purpose: plain state of one object that any thread may change without waiting. Inside, rules read
// as on one thread; a note is carried out by the thread that is inside, before it leaves.
// When not to use it: for work that is long, or that must be done when the caller returns.
// Threads: any. Enter is lock-free: its exchange fails only because another's succeeded. Leave goes
// round once for each batch of notes that others left meanwhile.
// Invariants:
//  1. At most one thread is inside, and what one did inside happens before what the next one does.
//  2. A note is carried out exactly once, after all that were left before it.
// Memory: a word, and a note for each operation that is waiting to be carried out.
// Source: the serializing drain loop of reactive libraries; D. Hendler, I. Incze, N. Shavit and M.
// Tzafrir, Flat Combining and the Synchronization-Parallelism Tradeoff, 2010.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/atom.h"

namespace schedq {

// `Note` has a member `Note* below`, which the door uses while the note is left at it.
template <typename Note, template <typename> class Atom = std::atomic>
class CallDoor {
 public:
  CallDoor() = default;
  CallDoor(const CallDoor&) = delete;
  CallDoor& operator=(const CallDoor&) = delete;

  // True: the caller is inside. False: somebody is. Wait-free.
  bool TryEnter() {
    uintptr_t state = kFree;
    // Acquire pairs with the release in TryLeave: without it the state inside could be stale.
    return state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // True: the caller is inside, and carries out the note himself. False: the note was left.
  bool EnterOrLeave(std::unique_ptr<Note>& note) {
    uintptr_t state = LoadState();
    for (;;) {
      if (state == kFree) {
        if (ExchangeToEnter(state)) return true;
        continue;
      }
      note->below = state == kTaken ? nullptr : reinterpret_cast<Note*>(state);
      if (ExchangeForNote(state, note.get())) {
        note.release();
        return false;
      }
    }
  }

  // Carries out what was left, oldest first, and leaves when there is nothing more.
  template <typename CarryOut>
  void Leave(const CarryOut& carry_out) {
    if (!TryLeave()) LeaveAfterNotes(carry_out);
  }

 private:
  static constexpr uintptr_t kFree = 0;
  static constexpr uintptr_t kTaken = 1;  // Any other value: taken, and the newest note.

  bool TryLeave() {
    uintptr_t state = kTaken;
    // Release pairs with the acquire of whoever enters next: without it that one could still see
    // the state inside as it was.
    return state_.compare_exchange_strong(state, kFree, std::memory_order_release,
                                          std::memory_order_relaxed);
  }

  // Apart, because it is rare.
  template <typename CarryOut>
  [[gnu::noinline]] void LeaveAfterNotes(const CarryOut& carry_out) {
    do {
      // Acquire pairs with the release of those who left notes.
      Note* top = reinterpret_cast<Note*>(state_.exchange(kTaken, std::memory_order_acquire));
      Note* oldest = nullptr;
      while (top != nullptr) {
        Note* below = std::exchange(top->below, oldest);
        oldest = std::exchange(top, below);
      }
      while (oldest != nullptr) {
        const std::unique_ptr<Note> note(std::exchange(oldest, oldest->below));
        carry_out(*note);
      }
    } while (!TryLeave());
  }

  uintptr_t LoadState() const { return LoadRelaxed(state_); }
  // Acquire pairs with the release in TryLeave, as in TryEnter.
  bool ExchangeToEnter(uintptr_t& free) {
    return state_.compare_exchange_weak(free, kTaken, std::memory_order_acquire,
                                        std::memory_order_relaxed);
  }
  // Release pairs with the acquire in LeaveAfterNotes: without it the note could be carried out
  // before it was written. A note above it keeps it published, for that is an exchange too.
  bool ExchangeForNote(uintptr_t& below, Note* note) {
    return state_.compare_exchange_weak(below, reinterpret_cast<uintptr_t>(note),
                                        std::memory_order_release, std::memory_order_relaxed);
  }

  // Written by whoever enters, leaves or leaves a note; a stale reader fails his exchange.
  Atom<uintptr_t> state_;
};

}  // namespace schedq
