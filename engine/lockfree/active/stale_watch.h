// When to look for stale tickets, and for how long.
//
// Purpose: tickets below pods that always go first are never met, so those that have become stale
// would pile up. A thread that pushes asks here now and then, and drops a few of them
// (ActiveQueue).
// When not to use it: where time flushes stale tickets away.
// Threads: all operations from any thread, wait-free. All is relaxed and a hint: a thread that
// loses a count looks a little earlier or later.
// Bound: while more than half of the tickets, and more than kSpareTickets, are stale,
// kTicketsPerPush others are looked at for each push, so that one round through all of them is over
// before a quarter as many have come. A look that another thread's pop interrupts leaves up to a
// segment of tickets twice; they are looked through like the others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/atom.h"

namespace schedq {

// Shape has kSpareTickets and kTicketsPerPush.
template <template <typename> class Atom, typename Shape>
class StaleWatch {
 public:
  // Whether to do something now; `pushes` counts all pushes there ever were.
  bool IsDue(uint64_t pushes) const { return pushes >= LoadRelaxed(next_look_); }

  // Whether some are left of the round that was planned; if not, tickets must be counted.
  bool IsInRound() const { return LoadRelaxed(left_) > 0; }

  // Plans a round, or when to count again.
  void Plan(uint64_t pushes, uint64_t tickets, uint64_t live) {
    const bool has_many = tickets > 2 * live + Shape::kSpareTickets;
    if (has_many) StoreRelaxed(left_, tickets);
    const uint64_t pause = std::max<uint64_t>(tickets, Shape::kSpareTickets) / 4;
    StoreRelaxed(next_look_, pushes + (has_many ? 1 : pause));
  }

  // So many were looked at. The more, the later the next ones.
  void Looked(uint64_t pushes, uint64_t tickets) {
    // None, because another thread came first: as if it had been a few.
    tickets = std::max<uint64_t>(tickets, Shape::kTicketsPerPush);
    const uint64_t left = LoadRelaxed(left_);
    StoreRelaxed(left_, left - std::min(left, tickets));
    StoreRelaxed(next_look_, pushes + tickets / Shape::kTicketsPerPush);
  }

 private:
  // Written by a thread that looks, read by all that push.
  Atom<uint64_t> next_look_{Shape::kSpareTickets};
  Atom<uint64_t> left_{0};  // Tickets of the round.
};

}  // namespace schedq
