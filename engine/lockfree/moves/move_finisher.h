// Finishes what other threads have begun (unfinished_moves.h).
//
// Purpose: an operation that relies on where a pod is, or finds nothing to pop, does first what
// follows from the moves that it can see. So what has returned has taken effect, wherever other
// threads have stopped.
// Threads: all operations from any thread, lock-free.
// Invariant: to finish a move twice is harmless. A ticket that stands twice counts once, a mark
// that is set twice is set, and a gated pod that is asked about again is where it was.
// Parts: QueueParts.
#pragma once

#include "engine/lockfree/groups/group_publisher.h"
#include "engine/lockfree/moves/move_cause.h"
#include "engine/lockfree/moves/pod_mover.h"
#include "engine/lockfree/moves/pool_judge.h"
#include "engine/lockfree/pods/unfinished_moves.h"
#include "engine/lockfree/tickets/queue_ticket.h"
#include "engine/lockfree/tickets/ticket_publisher.h"
#include "engine/place.h"
#include "engine/pod_key.h"

namespace schedq {

template <typename Parts>
class MoveFinisher {
 public:
  using Pinned = typename Parts::Pinned;
  using Announcement = typename Parts::Moves::Announcement;

  MoveFinisher(Parts* parts, TicketPublisher<Parts>* tickets, PodMover<Parts>* mover,
               PoolJudge<Parts>* pool, GroupPublisher<Parts>* groups)
      : parts_(*parts), tickets_(*tickets), mover_(*mover), pool_(*pool), groups_(*groups) {}
  MoveFinisher(const MoveFinisher&) = delete;
  MoveFinisher& operator=(const MoveFinisher&) = delete;

  // Inlined as far as a pod goes that is in no queue, such as one that fails.
  [[gnu::always_inline]] Pinned PinFinished(PodId id);
  bool FinishAll();
  [[gnu::always_inline]] void FinishLeft();

 private:
  [[gnu::noinline]] bool FinishMovesOf(PodId id);
  template <typename IsUnderWay>
  bool FinishMove(const Move& move, const IsUnderWay& is_under_way);

  Parts& parts_;
  TicketPublisher<Parts>& tickets_;
  PodMover<Parts>& mover_;
  PoolJudge<Parts>& pool_;
  GroupPublisher<Parts>& groups_;
};

// The pod, and no move of it was unfinished that led to where it is.
template <typename Parts>
inline auto MoveFinisher<Parts>::PinFinished(PodId id) -> Pinned {
  // A retry means that a move was finished, of which each thread has few under way.
  for (;;) {
    Pinned pinned = parts_.table.Pin(id);
    if (!pinned || pinned.word().queued == Place::kAbsent || !FinishMovesOf(id)) return pinned;
  }
}

// Returns whether there was one to finish.
template <typename Parts>
bool MoveFinisher<Parts>::FinishMovesOf(PodId id) {
  return parts_.moves.FinishOf(id, [this](const Move& move, const auto& is_under_way) {
    return this->FinishMove(move, is_under_way);
  });
}

// Returns whether there was one to finish.
template <typename Parts>
bool MoveFinisher<Parts>::FinishAll() {
  const bool has_finished_group = parts_.groups != nullptr && groups_.FinishOwed();
  return has_finished_group |
         parts_.moves.FinishAll([this](const Move& move, const auto& is_under_way) {
           return this->FinishMove(move, is_under_way);
         });
}

// False: it has not taken place yet, or the pod has moved on since and its thread does not matter.
template <typename Parts>
template <typename IsUnderWay>
bool MoveFinisher<Parts>::FinishMove(const Move& move, const IsUnderWay& is_under_way) {
  const PodId id = move.name.pod();
  Place place;
  {
    const Pinned pinned = parts_.table.Pin(id);
    place = pinned.word().queued;
    if (place == Place::kAbsent || !move.name.Leads(pinned.facts().version, place)) return false;
    // A ticket that stands twice counts once.
    if (!InPool(place)) tickets_.Push(place, TicketFor(pinned.facts()));
    if (InPool(place)) parts_.rejectors.Mark(id, pinned.facts().fields.Rejectors());
  }
  if (place == Place::kGated) {
    Announcement announcement = parts_.moves.Begin();
    announcement.Announce(move);
    mover_.RecheckGated(id, MoveCause::From(move.note), &announcement);
    announcement.Withdraw();
  }
  if (!InPool(place) || !move.flight.IsSet()) return true;
  auto reader = parts_.log.BeginReading(move.flight, is_under_way);
  if (reader) pool_.ReadLogAgain(id, &*reader);
  return reader.has_value();
}

// At the beginning of an operation: what an earlier one could not finish. So a thread leaves no
// more than one operation's moves behind.
template <typename Parts>
inline void MoveFinisher<Parts>::FinishLeft() {
  if (parts_.moves.TakeLeft()) [[unlikely]]
    FinishAll();
}

}  // namespace schedq
