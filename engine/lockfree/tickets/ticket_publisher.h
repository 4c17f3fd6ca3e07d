// Puts tickets where pops and flushes find them, and wakes a sleeping pop.
//
// Threads: all operations from any thread, lock-free.
// Invariants:
//  1. A push is counted after its ticket is visible. So a pop that read the same count before and
//     after it looked at several queues saw all of them at once.
//  2. What is pushed to active or to a window may be popped, so it wakes a sleeper. The queues by
//     time are only flushed.
// Memory: stale tickets of active are looked for while they are more than half (stale_watch.h).
// Parts: QueueParts.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/backoff/backoff_windows.h"
#include "engine/lockfree/tickets/queue_ticket.h"
#include "engine/place.h"

namespace schedq {

template <typename Parts>
class TicketPublisher {
 public:
  explicit TicketPublisher(Parts* parts) : parts_(*parts) {}
  TicketPublisher(const TicketPublisher&) = delete;
  TicketPublisher& operator=(const TicketPublisher&) = delete;

  // `place` is active or one of backoff's.
  [[gnu::always_inline]] void Push(Place place, const QueueTicket& ticket);
  // Pushes tickets to active that are sorted.
  void PushRun(std::span<const ActiveEntry> run);

 private:
  [[gnu::noinline, gnu::cold]] void DropStaleTickets(uint64_t pushes);
  uint64_t ActiveNow() const {
    const uint64_t pods = parts_.counts.Read().active;
    return parts_.groups == nullptr ? pods : pods + parts_.groups->state.load()->counts.active;
  }

  Parts& parts_;
};

template <typename Parts>
inline void TicketPublisher<Parts>::Push(Place place, const QueueTicket& ticket) {
  if (place == Place::kActive) {
    parts_.active.Push(ticket.entry);
  } else {
    const Instant expiration = *ticket.expiration;
    const ActiveEntry timed{0, expiration.time_since_epoch().count(), ticket.entry.ticket};
    if (place == Place::kErrorBackoff) {
      parts_.error_backoff.Push(timed);
      return;
    }
    if (!parts_.options.gates.PopFromBackoffQ()) {
      parts_.backoff_by_time.Push(timed);
      return;
    }
    parts_.windows.Push(SecondOf(expiration), ticket.entry);
  }
  const uint64_t pushes = parts_.pushes.fetch_add(1);
  parts_.poppable.NotifyOne();
  if (parts_.stale_watch.IsDue(pushes)) [[unlikely]]
    DropStaleTickets(pushes);
}

template <typename Parts>
void TicketPublisher<Parts>::PushRun(std::span<const ActiveEntry> run) {
  parts_.active.PushRun(run.data(), run.size());
  const uint64_t pushes = parts_.pushes.fetch_add(run.size());
  parts_.poppable.Notify(run.size());
  if (parts_.stale_watch.IsDue(pushes)) [[unlikely]]
    DropStaleTickets(pushes);
}

// A pod that is not active by this very ticket never will be again: it comes back by another. While
// a thread has not pushed that other one, the pod is found by the older one (a pop that meets it
// finishes the move). The slot is looked at first: a move that it shows is announced until its
// ticket is pushed.
template <typename Parts>
void TicketPublisher<Parts>::DropStaleTickets(uint64_t pushes) {
  if (!parts_.stale_watch.IsInRound()) {
    return parts_.stale_watch.Plan(pushes, parts_.active.Size(), ActiveNow());
  }
  const auto is_stale = [this](uint64_t ticket) {
    if (IsOfGroup(ticket)) return parts_.groups->IsStale(ticket);
    const auto word = parts_.table.Peek(PodIn(ticket));
    if (word.queued != Place::kActive) return true;
    return !IsTicketOf(ticket, Place::kActive, word) && !parts_.moves.IsUnderWay(PodIn(ticket));
  };
  parts_.stale_watch.Looked(pushes, parts_.active.DropStale(Random(pushes).Next(), is_stale));
}

}  // namespace schedq
