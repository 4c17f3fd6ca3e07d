// Threads that meet in one structure again and again take turns: advice that nobody must follow.
//
// Purpose: where two cores change the same lines by turns of one operation, each operation waits
// for lines to travel, and takes several times as long as on one core. A thread that met another
// one lately therefore lets the other finish what it is at, for a bounded moment, and then has the
// lines to itself for as long. A mutex has this effect by accident, for its waiters sleep.
// When not to use it: for an order or exclusion. Two threads may have the turn at once, and a
// thread that met nobody asks for none.
// Threads: all operations from any thread, wait-free: a wait ends after kPausesMax pauses, or
// sooner if the other one is done, or has stopped. Turns change only when a thread goes on, which
// is what schedules of a model do anyway; so with any other Atom than std::atomic there are none.
// Invariants: none that anything relies on. All orderings are relaxed, and a count that two threads
// write at once may lose one.
// Memory: a line; a number for each thread, for all structures.
// Source: A. Agarwal and M. Cherian, Adaptive Backoff Synchronization Techniques, 1989; what it
// gains is what combining gains (D. Hendler et al., Flat Combining, 2010).
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/base/atom.h"

namespace schedq {

template <template <typename> class Atom, bool kWanted>
class Turns {
 public:
  // A thread's stay in the structure: until the end of its scope.
  class Turn {
   public:
    explicit Turn(Turns&) {}
    void Met() {}
  };
};

template <>
class Turns<std::atomic, true> {
 public:
  // Operations for which a thread asks for a turn, after it met another thread.
  static constexpr uint32_t kOperationsAfterMeeting = 512;
  // A look at what the other one does takes its line away, so they become rarer. The first comes
  // late enough that a thread at work has done a few operations by then, also on lines that travel.
  static constexpr uint32_t kFirstPauses = 128;
  static constexpr uint32_t kLastPauses = 512;
  // About 20 us. Half as many do not pay for the lines that travel when the turn changes.
  static constexpr uint32_t kPausesMax = 2 * kLastPauses - kFirstPauses;

  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(turns), is_begun_(operations_left_ > 0) {
      if (is_begun_) turns_.Begin();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      if (is_begun_) turns_.End();
    }

    // The thread found that another one had changed what it was at. It lets that one go first.
    void Met() {
      operations_left_ = kOperationsAfterMeeting;
      if (is_begun_) return;
      is_begun_ = true;
      turns_.Begin();
    }

   private:
    Turns& turns_;
    bool is_begun_;
  };

  // Whether a turn is under way. May be stale.
  bool IsUnderWay() const { return (LoadRelaxed(word_) & kUnderWay) != 0; }

 private:
  // A word is twice the number of turns that have begun, and whether one is under way.
  static constexpr uint64_t kUnderWay = 1;
  static constexpr uint64_t kOneTurn = 2;

  void Begin() {
    --operations_left_;
    uint64_t word = LoadRelaxed(word_);
    if ((word & kUnderWay) != 0) word = AwaitQuiet(word);
    StoreRelaxed(word_, (word + kOneTurn) | kUnderWay);
  }
  void End() { StoreRelaxed(word_, LoadRelaxed(word_) & ~kUnderWay); }

  // Until hardly anything happens between two looks, or for the longest wait. Returns the last
  // word seen.
  [[gnu::noinline]] uint64_t AwaitQuiet(uint64_t word) const {
    for (uint32_t pauses = kFirstPauses; pauses <= kLastPauses; pauses *= 2) {
      for (uint32_t pause = 0; pause < pauses; ++pause) Seam<std::atomic>::Pause();
      const uint64_t before = word;
      word = LoadRelaxed(word_);
      if (word - before <= kOneTurn) break;
    }
    return word;
  }

  // Used by its thread only, for all structures: a thread that met another one will meet it again.
  inline static constinit thread_local uint32_t operations_left_ = 0;

  // Written by threads that take turns.
  alignas(64) std::atomic<uint64_t> word_{0};
};

}  // namespace schedq
