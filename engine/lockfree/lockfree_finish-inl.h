// Finishing what other threads have begun (unfinished_moves.h). An operation that relies on where a
// pod is, or finds nothing to pop, does first what follows from the moves that it can see; so what
// has returned has taken effect, wherever other threads have stopped.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/atom.h"
#include "engine/event.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/pods/unfinished_moves.h"
#include "engine/place.h"
#include "engine/pod_key.h"

namespace schedq {

// The pod, and no move of it was unfinished that led to where it is.
template <template <typename> class Atom, typename Shape>
auto BasicLockfreeQueue<Atom, Shape>::PinFinished(PodId id) -> Pinned {
  const auto finish = [this](const Move& move, const auto& is_under_way) {
    return this->FinishMove(move, is_under_way);
  };
  // A retry means that a move was finished, of which each thread has few under way.
  for (;;) {
    Pinned pinned = table_.Pin(id);
    if (!pinned || pinned.word().queued == Place::kAbsent) return pinned;
    if (!moves_.FinishOf(id, finish)) return pinned;
  }
}

// Returns whether there was one to finish.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::FinishAllMoves() {
  const bool has_finished_group = groups_ != nullptr && FinishOwed();
  return has_finished_group | moves_.FinishAll([this](const Move& move, const auto& is_under_way) {
    return this->FinishMove(move, is_under_way);
  });
}

// False: it has not taken place yet, or the pod has moved on since and its thread does not matter.
template <template <typename> class Atom, typename Shape>
template <typename IsUnderWay>
bool BasicLockfreeQueue<Atom, Shape>::FinishMove(const Move& move, const IsUnderWay& is_under_way) {
  const PodId id = move.name.pod();
  Place place;
  {
    const Pinned pinned = table_.Pin(id);
    place = pinned.word().queued;
    if (place == Place::kAbsent || !move.name.Leads(pinned.facts().version, place)) return false;
    // A ticket that stands twice counts once.
    if (!InPool(place)) PushTicket(place, TicketFor(pinned.facts()));
    if (InPool(place)) rejectors_.Mark(id, pinned.facts().fields.Rejectors());
  }
  if (place == Place::kGated) {
    Announcement announcement = moves_.Begin();
    announcement.Announce(move);
    RecheckGated(id, CauseIn(move.note), &announcement);
    announcement.Withdraw();
  }
  if (!InPool(place) || !move.flight.IsSet()) return true;
  auto reader = log_.BeginReading(move.flight, is_under_way);
  if (reader) ReadLogAgain(id, &*reader);
  return reader.has_value();
}

// At the beginning of an operation: what an earlier one could not finish. So a thread leaves no
// more than one operation's moves behind. Relaxed: see Leftover.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FinishLeft() {
  if (!LoadRelaxed(has_left_)) [[likely]]
    return;
  StoreRelaxed(has_left_, false);
  FinishAllMoves();
}

template <template <typename> class Atom, typename Shape>
uint32_t BasicLockfreeQueue<Atom, Shape>::NoteOf(Cause cause) {
  const auto named = static_cast<uint32_t>(cause.named);
  return uint32_t{cause.label} << 8 | named << 1 | uint32_t{cause.takes_out_first};
}

template <template <typename> class Atom, typename Shape>
auto BasicLockfreeQueue<Atom, Shape>::CauseIn(uint32_t note) -> Cause {
  return {static_cast<EventLabel>(note >> 8), (note & 1) != 0,
          static_cast<Place>(note >> 1 & 0x7f)};
}

}  // namespace schedq
