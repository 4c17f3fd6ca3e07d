// The single total order of sequentially consistent operations, as constraints that must not
// contradict each other.
//
// Purpose: C++20 says of which pairs of such operations one comes first ([atomics.order]). An
// execution is allowed when some total order has all these pairs, so when the pairs form no cycle.
// The order in which a run executes operations is not among them.
// When not to use it: in tests, which use model::Atomic.
// Allowed threads: the one that runs the model.
// Invariants:
//   1. The operations of one thread come in the order of the program. So a set of operations that
//      has with each all that come before it is one counter a thread, and a Clock holds it.
//   2. Operation::before is closed: it has what comes before anything in it, and the operation.
//   3. No operation comes before itself. A caller asks Contradicts() before it calls Precede().
// Memory bound: one Operation for each sequentially consistent operation of a run.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/model/clock.h"

namespace schedq::model {

class SeqCstOrder {
 public:
  void Begin();

  // What comes before the next operation of `thread`, which knows of `ordered`: its own earlier
  // operations, and those that strongly happen before. One of another thread does if something
  // behind it in its own thread happens before the last step, so its epoch must be the smaller one.
  Clock BeforeNext(uint32_t thread, const Clock& ordered);

  // Adds to `before` the operations in `more` and what comes before them.
  void Extend(Clock& before, const Clock& more) const {
    for (uint32_t thread = 0; thread < threads_; ++thread) {
      if (more.at[thread] > before.at[thread]) {
        before.Join(operations_[thread][more.at[thread] - 1].before);
      }
    }
  }

  // Adds an operation behind those in `before`, which is closed. Returns its number in its thread,
  // counted from 1.
  uint32_t Add(uint32_t thread, uint32_t epoch, Clock before);
  // The same for a fence. `ordered` is what its thread knows behind it.
  void AddFence(uint32_t thread, uint32_t epoch, const Clock& before, const Clock& ordered);
  // A moment that every thread can see: it comes behind all earlier moments.
  void AddMoment(uint32_t thread, uint32_t epoch, Clock before);

  bool has_fences() const { return !fences_.empty(); }
  // The latest fence of each thread that happens before a step which knows of `ordered`.
  Clock FencesBefore(const Clock& ordered) const;
  // Lowers `targets` to the earliest fence of each thread behind which an access from `first_seen`
  // happened.
  void LowerToFencesBehind(const Clock& first_seen, Clock& targets) const;

  // Whether an operation in `before` is one of `targets` (the earliest of each thread, or kNever)
  // or comes behind one.
  static bool Contradicts(const Clock& before, const Clock& targets) {
    return targets.ReachedBy(before);
  }
  // The same for each operation in `sources` and all before it.
  bool AnyContradicts(const Clock& sources, const Clock& targets) const {
    Clock before;
    Extend(before, sources);
    return Contradicts(before, targets);
  }
  // Puts each of `sources` (the latest of each thread) before each of `targets`.
  void Precede(const Clock& sources, const Clock& targets);

 private:
  struct Operation {
    uint32_t epoch;
    Clock before;
  };
  struct Fence {
    uint32_t thread;
    uint32_t number;
    uint32_t epoch;
    Clock ordered;
  };

  std::array<std::vector<Operation>, kFibersMax> operations_;
  uint32_t threads_ = 0;  // Those that have operations are below this.
  std::vector<Fence> fences_;
  // For each thread, how many operations of the others strongly happen before its next one.
  std::array<Clock, kFibersMax> known_;
  Clock moments_;  // What comes before the latest moment, with the moment.
};

}  // namespace schedq::model
