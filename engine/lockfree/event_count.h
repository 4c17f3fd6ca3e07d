// Puts consumers to sleep until a producer has put something in, on top of any queue.
//
// Purpose: a Pop that blocks while the queue is empty. A push costs one load when no thread sleeps;
// one notification wakes at most one sleeper.
// When not to use it: for conditions that many wait for at once; see NotifyAll for shutdown.
// Threads: all operations from any thread. Notify is wait-free but for the system call; Wait
// blocks.
//
// Use:
//   consumer: for (;;) {                              producer: queue.Push(entry);
//               if (queue.TryPop()) return it;                  event_count.NotifyOne();
//               const auto ticket = event_count.PrepareWait();
//               if (queue.TryPop()) { event_count.CancelWait(); return it; }
//               if (!event_count.CommitWait(ticket, deadline)) return queue.TryPop();
//             }
//
// Invariants:
//  1. No wake-up is lost. A waiter announces itself and then looks into the queue again; a producer
//     makes its entry visible and then looks for waiters; all four with seq_cst. So either the
//     waiter finds the entry, or the producer finds the waiter, changes the epoch, and wakes: a
//     waiter sleeps only while the epoch is the one that it read before its last look.
//  2. A waiter is counted from PrepareWait until it has left the wait. A waiter that leaves by its
//     deadline must look once more *after* CommitWait has returned: a wake-up that was meant for it
//     may have passed with it. A push after that look finds it gone, and wakes another.
//  3. No herd: a change of the epoch alone wakes no sleeper; each NotifyOne wakes one. A waiter
//     between its last look and its sleep does not fall asleep, and looks again.
// Memory: two words.
// Source: D. Vyukov's eventcount, as in folly's EventCount.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/base/atom.h"
#include "engine/base/time/time.h"

namespace schedq {

template <template <typename> class Atom = std::atomic>
class EventCount {
 public:
  // What PrepareWait hands to CommitWait.
  struct Ticket {
    uint32_t epoch = 0;
  };

  EventCount() = default;
  EventCount(const EventCount&) = delete;
  EventCount& operator=(const EventCount&) = delete;

  // Announces a waiter. It must look into the queue after this, and then commit or cancel.
  // Wait-free. Linearization point: the addition.
  Ticket PrepareWait() {
    waiters_.fetch_add(1);
    return {LoadEpoch()};
  }

  // Wait-free.
  void CancelWait() { Leave(); }

  // Sleeps until a notification that came after PrepareWait. False: the deadline has passed; the
  // caller looks once more (invariant 2). Blocking.
  bool CommitWait(Ticket ticket, std::optional<MonotonicTime> deadline) {
    bool is_in_time = true;
    // Each round is a return of Wait without a notification.
    while (is_in_time && LoadEpoch() == ticket.epoch) {
      is_in_time = Seam<Atom>::Wait(epoch_, ticket.epoch, deadline);
    }
    Leave();
    return is_in_time;
  }

  // After an entry was pushed. Linearization point: the load, or the addition.
  void NotifyOne() {
    if (waiters_.load() == 0) return;
    RaiseEpoch();
    Seam<Atom>::WakeOne(epoch_);
  }

  // After `count` entries were pushed: as so many calls of NotifyOne. Bound: the waiters of now.
  void Notify(size_t count) {
    for (size_t left = std::min<size_t>(count, waiters_.load()); left > 0; --left) NotifyOne();
  }

  // Wakes all waiters: to close the queue, or after many entries were pushed.
  void NotifyAll() {
    if (waiters_.load() == 0) return;
    RaiseEpoch();
    Seam<Atom>::WakeAll(epoch_);
  }

  // May be stale, and orders nothing.
  uint32_t Waiters() const { return LoadRelaxed(waiters_); }

 private:
  // Acquire and release pair with each other. A waiter that reads the epoch of a notification, and
  // so will not be woken by it, sees in its look the entry that was pushed before. An older epoch
  // only keeps it from sleeping.
  uint32_t LoadEpoch() const { return LoadAcquire(epoch_); }
  void RaiseEpoch() { epoch_.fetch_add(1, std::memory_order_release); }
  // Relaxed: a producer that still counts the waiter wakes somebody else, or nobody in vain.
  void Leave() { waiters_.fetch_sub(1, std::memory_order_relaxed); }

  // Raised by each notification that finds waiters. A waiter that misses exactly 2^32 of them
  // between its last look and its sleep would sleep; its deadline or the next push wakes it.
  Atom<uint32_t> epoch_{0};
  // Raised and lowered by waiters; read by producers.
  Atom<uint32_t> waiters_{0};
};

}  // namespace schedq
