// Moves one pod: makes a change true by an exchange of the pod's slot, and does what follows.
//
// Purpose: every operation that gives a pod a place decides on a change (place_decision.h) and
// commits it here.
// Threads: all operations from any thread, lock-free. A commit is tried once: it fails where
// another thread has changed the pod's slot, and then nothing has happened.
// Linearization: the exchange of the slot's word.
//
// Invariants:
//  1. A move that leaves something to do is announced before the exchange, and withdrawn when that
//     is done (unfinished_moves.h). So another thread can do it.
//  2. Counters are told after the exchange, observers after the counters, and the ticket is pushed
//     last: from then on others may pop the pod.
//  3. Marks of a pod's rejectors are set before the pod can be seen in the pool (rejector_index.h).
//  4. A pod that PreEnqueue rejected, and that an event of its gating plugin may have missed, is
//     asked about again once it is in the pool (event_epochs.h).
// Parts: QueueParts.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/lockfree/moves/move_cause.h"
#include "engine/lockfree/moves/place_decision.h"
#include "engine/lockfree/pods/pod_change.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/lockfree/pods/told_numbers.h"
#include "engine/lockfree/pods/unfinished_moves.h"
#include "engine/lockfree/tickets/queue_ticket.h"
#include "engine/lockfree/tickets/ticket_publisher.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/ports.h"

namespace schedq {

template <typename Parts>
class PodMover {
 public:
  using Pinned = typename Parts::Pinned;
  using Change = typename Parts::Change;
  using Announcement = typename Parts::Moves::Announcement;
  using Leftover = typename Parts::Moves::Leftover;

  PodMover(Parts* parts, TicketPublisher<Parts>* tickets) : parts_(*parts), tickets_(*tickets) {}
  PodMover(const PodMover&) = delete;
  PodMover& operator=(const PodMover&) = delete;

  // Makes the change true and does all that follows. False: the slot changed, and nothing happened.
  [[gnu::noinline]] bool Commit(PodId id, const Pinned& pinned, Change* change, MoveCause cause);
  // The same without what follows a move into the pool; `announcement` stands until that is done.
  bool CommitMove(PodId id, const Pinned& pinned, Change* change, MoveCause cause,
                  Announcement* announcement);

  // What follows a move into the pool of a pod that PreEnqueue rejected.
  bool IsOvertaken(const Change& change) const;
  void RecheckGated(PodId id, MoveCause cause, Announcement* announcement);

 private:
  [[gnu::noinline, gnu::cold]] bool CommitObserved(PodId id, const Pinned& pinned, Change* change,
                                                   MoveCause cause, Announcement* announcement);
  template <bool kIsObserved>
  [[gnu::always_inline]] bool CommitAs(PodId id, const Pinned& pinned, Change* change,
                                       MoveCause cause, Announcement* announcement);
  SlotWord WordAfter(const Pinned& pinned, Change* change) const;
  Place PlaceOf(const Pinned& pinned) const;
  uint32_t VersionAfterMembers(PodId id, uint32_t next) const;
  [[gnu::always_inline]] void CountMove(const SlotWord& before, const Change& change,
                                        MoveCause cause) const;
  // Code of its own: it is none of a queue without groups.
  [[gnu::noinline]] void CountEntity(Place entered, MoveCause cause) const;
  void TellPublished(const Pinned& pinned, const PodFacts& facts, const Change& change,
                     MoveCause cause) const;

  Parts& parts_;
  TicketPublisher<Parts>& tickets_;
};

// The word that makes the change true, after the last change to its facts.
template <typename Parts>
SlotWord PodMover<Parts>::WordAfter(const Pinned& pinned, Change* change) const {
  SlotWord after = pinned.word();
  // What PreEnqueue said is told with the version, so each rejection has one of its own.
  const bool is_rejected = change->pre_enqueue == PreEnqueueAnswer::kRejected;
  if (change->has_own_facts() || is_rejected) {
    PodFacts& own = change->Edit();
    // Each move has a name of its own (unfinished_moves.h).
    if (change->needs_ticket || is_rejected || InPool(change->place) ||
        change->place != after.queued) {
      own.version = pinned.NextVersion();
      if (parts_.groups != nullptr) [[unlikely]]
        own.version = VersionAfterMembers(own.id, own.version);
    }
    after = WordWith(after, *change);
  } else {
    SCHEDQ_CHECK(!change->needs_ticket || InPool(after.queued) || change->place == Place::kActive,
                 "a record is in each queue once");
  }
  after.queued = change->place;
  after.live = change->live;
  return after;
}

template <typename Parts>
bool PodMover<Parts>::Commit(PodId id, const Pinned& pinned, Change* change, MoveCause cause) {
  Announcement announcement;
  Leftover leftover(&parts_.moves);
  const bool is_done = CommitMove(id, pinned, change, cause, &announcement);
  if (is_done) {
    if (change->place == Place::kGated && IsOvertaken(*change)) {
      RecheckGated(id, cause, &announcement);
    }
    if (change->needs_ticket || InPool(change->place)) announcement.Withdraw();
  }
  leftover.Finished();
  return is_done;
}

// Two instructions are what observers cost a queue that has none: the question stands before
// anything that it could keep from lying in registers, and what observers need is code of its own.
template <typename Parts>
inline bool PodMover<Parts>::CommitMove(PodId id, const Pinned& pinned, Change* change,
                                        MoveCause cause, Announcement* announcement) {
  if constexpr (Parts::Shape::kMayBeObserved) {
    if (parts_.is_observed) [[unlikely]]
      return CommitObserved(id, pinned, change, cause, announcement);
  }
  return CommitAs<false>(id, pinned, change, cause, announcement);
}

template <typename Parts>
bool PodMover<Parts>::CommitObserved(PodId id, const Pinned& pinned, Change* change,
                                     MoveCause cause, Announcement* announcement) {
  return CommitAs<true>(id, pinned, change, cause, announcement);
}

// Keeps a record for observers, which may throw; kNoRecord: none.
template <typename Records>
class RetainedRecord {
 public:
  RetainedRecord(Records* records, uint32_t record) : records_(records), record_(record) {
    if (record_ != kNoRecord) records_->Retain(record_);
  }
  RetainedRecord(const RetainedRecord&) = delete;
  RetainedRecord& operator=(const RetainedRecord&) = delete;
  ~RetainedRecord() { records_->Release(record_); }

 private:
  Records* const records_;
  const uint32_t record_;
};

// Observers were told of moves of members under this name, maybe.
template <typename Parts>
[[gnu::noinline, gnu::cold]] uint32_t PodMover<Parts>::VersionAfterMembers(PodId id,
                                                                           uint32_t next) const {
  constexpr uint32_t kBelowStep = PodFacts::kVersionStep - 1;
  const uint32_t last = parts_.groups->told_numbers.LastOf(id);
  return LaterNumber(next, last) == last ? (last | kBelowStep) + 1 : next;
}

// In this order: counters, observers, and last the ticket: from then on others may pop the pod.
template <typename Parts>
template <bool kIsObserved>
inline bool PodMover<Parts>::CommitAs(PodId id, const Pinned& pinned, Change* change,
                                      MoveCause cause, Announcement* announcement) {
  const SlotWord after = WordAfter(pinned, change);
  const PodFacts& facts = change->facts();
  // Before the pod can be seen in the pool: see rejector_index.h.
  const PluginSet marks = InPool(after.queued) ? facts.fields.Rejectors() : PluginSet();
  if (!marks.empty()) parts_.rejectors.Mark(id, marks);
  // Others may replace the record as soon as it is seen: take what is needed afterwards now.
  const QueueTicket ticket = change->needs_ticket ? TicketFor(facts) : QueueTicket();
  const bool tells = kIsObserved && cause.label != kNoLabel;
  const RetainedRecord<typename Parts::Records> retained(&parts_.table.records(),
                                                         tells ? after.record : kNoRecord);
  change->gating_plugin = facts.fields.gating_plugin;
  const bool is_owed = change->needs_ticket || InPool(after.queued);
  if (is_owed) {
    *announcement = parts_.moves.Begin();
    announcement->Announce(
        {MoveName(id, facts.version, after.queued), cause.Note(), change->flight});
  }
  const bool is_done = parts_.table.Exchange(id, pinned, after);
  if (is_done) {
    change->Published();
    // And again now that no thread clears its marks any more.
    if (!marks.empty()) parts_.rejectors.Mark(id, marks);
    CountMove(pinned.word(), *change, cause);
    if (tells) TellPublished(pinned, facts, *change, cause);
    if (change->needs_ticket) tickets_.Push(after.queued, ticket);
  } else if (is_owed) {
    announcement->Withdraw();
  }
  return is_done;
}

template <typename Parts>
inline void PodMover<Parts>::CountMove(const SlotWord& before, const Change& change,
                                       MoveCause cause) const {
  parts_.counts.Move(before.queued, change.place);
  if (change.newly_rejected != kNoPlugin) parts_.metrics.AddRejected(change.newly_rejected, 1);
  const bool enters_pool =
      InPool(change.place) && (!InPool(before.queued) || cause.takes_out_first);
  if (cause.label != kNoLabel && (change.needs_ticket || enters_pool)) {
    parts_.metrics.AddIncoming(change.place, cause.label);
    if (parts_.metrics.counts_entities()) [[unlikely]]
      CountEntity(change.place, cause);
  }
}

template <typename Parts>
void PodMover<Parts>::CountEntity(Place entered, MoveCause cause) const {
  const Place place = InBackoff(entered) ? Place::kBackoff
                      : InPool(entered)  ? Place::kUnschedulable
                                         : Place::kActive;
  if (place != cause.named) parts_.metrics.AddIncomingEntity(place, cause.label, EntityType::kPod);
}

// Of this pod, and not of others of its name that are still in flight. Bound: the number of these.
template <typename Parts>
Place PodMover<Parts>::PlaceOf(const Pinned& pinned) const {
  if (pinned.word().queued != Place::kAbsent) return pinned.word().queued;
  if (pinned.IsInFlight()) return Place::kInFlight;
  const PodKey key = pinned.facts().key();
  for (uint32_t older = pinned.facts().older; older != kNoRecord;) {
    const PodFacts& attempt = parts_.table.records().At(older);
    if (attempt.flight.IsSet() && attempt.key() == key) return Place::kInFlight;
    older = attempt.older;
  }
  return Place::kAbsent;
}

template <typename Parts>
void PodMover<Parts>::TellPublished(const Pinned& pinned, const PodFacts& facts,
                                    const Change& change, MoveCause cause) const {
  const PodMove move{.pod = facts.key(), .number = facts.version};
  const bool is_of_same_pod = pinned && pinned.facts().key() == facts.key();
  const Place from = is_of_same_pod ? PlaceOf(pinned) : Place::kAbsent;
  // Another uid under a name that was still live: the old pod is gone.
  const bool replaces = pinned && pinned.word().live && !is_of_same_pod;
  std::string message;
  if (change.pre_enqueue == PreEnqueueAnswer::kRejected) {
    message = parts_.options.pre_enqueue->Explain(*facts.pod, facts.fields.gating_plugin);
  }
  for (QueueObserver* observer : parts_.options.observers) {
    if (replaces) {
      const PodFacts& gone = pinned.facts();
      observer->OnDeleted(gone.pod, {.pod = gone.key(), .number = gone.VersionOfEnd()});
    }
    if (change.pre_enqueue == PreEnqueueAnswer::kPassed) observer->OnPassed(facts.pod, move);
    if (change.pre_enqueue == PreEnqueueAnswer::kRejected) {
      observer->OnGated(facts.pod, facts.fields.gating_plugin, message, move);
    }
    observer->OnMoved(facts.pod, from, change.place, cause.label);
  }
}

// Whether PreEnqueue may have rejected the pod before an event that would have let it through
// changed the world, and that event may have looked at the pool before the pod was in it. Events
// that the gating plugin did not register for never let the pod through.
template <typename Parts>
bool PodMover<Parts>::IsOvertaken(const Change& change) const {
  return parts_.epochs.LastOf(change.gating_plugin) > change.epoch;
}

// Asks PreEnqueue about a gated pod that was overtaken. The pod is in the pool now, so events that
// begin from here on find it there: to ask once is enough, unless another plugin rejects the pod
// now. Bound: once for each plugin, and once for each time that another thread changes the pod.
template <typename Parts>
void PodMover<Parts>::RecheckGated(PodId id, MoveCause cause, Announcement* announcement) {
  for (;;) {
    Change change(&parts_.table.records(), parts_.epochs.Begun());
    const Pinned pinned = parts_.table.Pin(id);
    if (!pinned || pinned.word().queued != Place::kGated) return;
    change.StartFrom(pinned);
    DecidePlace(parts_.options, &change, Verdict::kAfterBackoff, /*skip_pre_enqueue=*/false);
    if (change.place == Place::kGated && !change.has_own_facts()) return;
    Announcement next;
    if (!CommitMove(id, pinned, &change, cause, &next)) continue;
    // What this move leaves to do is announced; the pod has left the earlier one behind.
    announcement->Withdraw();
    *announcement = next;
    if (change.place != Place::kGated || !IsOvertaken(change)) return;
  }
}

}  // namespace schedq
