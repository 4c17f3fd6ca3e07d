// Where a pod goes, and how that becomes true.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queueing_fields.h"

namespace schedq {

// Runs PreEnqueue. A rejection makes its plugin a rejector and the gating plugin, and clears the
// mark of the flush; passing clears the gating plugin only.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::PassesPreEnqueue(Draft* draft) const {
  const PluginId gating = draft->facts().fields.gating_plugin;
  const PluginId rejected = options_.pre_enqueue->Check(*draft->facts().pod, gating);
  if (rejected == kNoPlugin) {
    draft->pre_enqueue = PreEnqueueAnswer::kPassed;
    if (gating != kNoPlugin) draft->Edit().fields.gating_plugin = kNoPlugin;
    return true;
  }
  draft->pre_enqueue = PreEnqueueAnswer::kRejected;
  const QueueingFields& fields = draft->facts().fields;
  if (!fields.Rejectors().Has(rejected)) draft->newly_rejected = rejected;
  if (gating == rejected && fields.unschedulable_plugins.Has(rejected) && !fields.was_flushed) {
    return false;  // Nothing changes.
  }
  QueueingFields& edited = draft->Edit().fields;
  edited.unschedulable_plugins.Insert(rejected);
  edited.gating_plugin = rejected;
  edited.was_flushed = false;
  return false;
}

// True also in the window in which backoff ends: windows are flushed whole.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::IsBackingOff(Draft* draft) const {
  const MaybeInstant expiration = draft->facts().fields.backoff_expiration;
  if (!expiration) return false;
  const Instant now = draft->Now(*options_.clock);
  return *expiration >= (options_.gates.PopFromBackoffQ() ? TruncateToSecond(now) : now);
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::DecidePlace(Draft* draft, Verdict verdict,
                                                  bool skip_pre_enqueue) const {
  if (verdict == Verdict::kSkip) {
    const bool is_gated = draft->facts().fields.gating_plugin != kNoPlugin;
    draft->place = is_gated ? Place::kGated : Place::kUnschedulable;
    return;
  }
  const bool backs_off = verdict == Verdict::kAfterBackoff && IsBackingOff(draft);
  const bool asks = !skip_pre_enqueue && (!backs_off || options_.gates.PopFromBackoffQ());
  if (asks && !PassesPreEnqueue(draft)) {
    draft->place = Place::kGated;
    return;
  }
  draft->needs_ticket = true;
  if (backs_off) {
    // An error is a pod without rejectors, judged after PreEnqueue.
    const bool is_error = draft->facts().fields.Rejectors().empty();
    draft->place = is_error ? Place::kErrorBackoff : Place::kBackoff;
    return;
  }
  draft->place = Place::kActive;
  if (!draft->facts().fields.first_attempt) {
    draft->Edit().fields.first_attempt = draft->Now(*options_.clock);
  }
}

template <template <typename> class Atom, typename Shape>
Place BasicLockfreeQueue<Atom, Shape>::PlaceNamedBy(Verdict verdict) {
  if (verdict == Verdict::kSkip) return Place::kUnschedulable;
  return verdict == Verdict::kAfterBackoff ? Place::kBackoff : Place::kActive;
}

// The word that names the draft's own record and says nothing that the record says.
template <template <typename> class Atom, typename Shape>
SlotWord BasicLockfreeQueue<Atom, Shape>::WordWith(const SlotWord& before, const Draft& draft) {
  SlotWord after = before;
  after.record = draft.own_record();
  after.attempt = AttemptState::kNone;
  after.version_or_position = draft.facts().version;
  return after;
}

// The word that makes the draft true, after the last change to its facts.
template <template <typename> class Atom, typename Shape>
SlotWord BasicLockfreeQueue<Atom, Shape>::WordAfter(const Pinned& pinned, Draft* draft) const {
  SlotWord after = pinned.word();
  // What PreEnqueue said is told with the version, so each rejection has one of its own.
  const bool is_rejected = draft->pre_enqueue == PreEnqueueAnswer::kRejected;
  if (draft->is_changed() || is_rejected) {
    PodFacts& own = draft->Edit();
    // Each move has a name of its own (unfinished_moves.h).
    if (draft->needs_ticket || is_rejected || InPool(draft->place) ||
        draft->place != after.queued) {
      own.version = pinned.NextVersion();
    }
    after = WordWith(after, *draft);
  } else {
    SCHEDQ_CHECK(!draft->needs_ticket || InPool(after.queued) || draft->place == Place::kActive,
                 "a record is in each queue once");
  }
  after.queued = draft->place;
  after.live = draft->live;
  return after;
}

template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::Commit(PodId id, const Pinned& pinned, Draft* draft,
                                             Cause cause) {
  Announcement announcement;
  Leftover leftover(this);
  const bool is_done = CommitMove(id, pinned, draft, cause, &announcement);
  if (is_done) {
    if (draft->place == Place::kGated && IsOvertaken(*draft)) {
      RecheckGated(id, cause, &announcement);
    }
    if (draft->needs_ticket || InPool(draft->place)) announcement.Withdraw();
  }
  leftover.Finished();
  return is_done;
}

// Two instructions are what observers cost a queue that has none: the question stands before
// anything that it could keep from lying in registers, and what observers need is code of its own.
template <template <typename> class Atom, typename Shape>
inline bool BasicLockfreeQueue<Atom, Shape>::CommitMove(PodId id, const Pinned& pinned,
                                                        Draft* draft, Cause cause,
                                                        Announcement* announcement) {
  if constexpr (Shape::kMayBeObserved) {
    if (is_observed_) [[unlikely]]
      return CommitObserved(id, pinned, draft, cause, announcement);
  }
  return CommitAs<false>(id, pinned, draft, cause, announcement);
}

template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::CommitObserved(PodId id, const Pinned& pinned, Draft* draft,
                                                     Cause cause, Announcement* announcement) {
  return CommitAs<true>(id, pinned, draft, cause, announcement);
}

// Keeps a record for observers, which may throw; kNoRecord: none.
template <template <typename> class Atom>
class RetainedRecord {
 public:
  RetainedRecord(PodRecordPool<Atom>* records, uint32_t record)
      : records_(records), record_(record) {
    if (record_ != kNoRecord) records_->Retain(record_);
  }
  RetainedRecord(const RetainedRecord&) = delete;
  RetainedRecord& operator=(const RetainedRecord&) = delete;
  ~RetainedRecord() { records_->Release(record_); }

 private:
  PodRecordPool<Atom>* const records_;
  const uint32_t record_;
};

// In this order: counters, observers, and last the ticket: from then on others may pop the pod.
template <template <typename> class Atom, typename Shape>
template <bool kIsObserved>
inline bool BasicLockfreeQueue<Atom, Shape>::CommitAs(PodId id, const Pinned& pinned, Draft* draft,
                                                      Cause cause, Announcement* announcement) {
  const SlotWord after = WordAfter(pinned, draft);
  const PodFacts& facts = draft->facts();
  // Before the pod can be seen in the pool: see rejector_index.h.
  const PluginSet marks = InPool(after.queued) ? facts.fields.Rejectors() : PluginSet();
  if (!marks.empty()) rejectors_.Mark(id, marks);
  // Others may replace the record as soon as it is seen: take what is needed afterwards now.
  const Ticket ticket = draft->needs_ticket ? TicketFor(facts) : Ticket();
  const bool tells = kIsObserved && cause.label != kNoLabel;
  const RetainedRecord<Atom> retained(&table_.records(), tells ? after.record : kNoRecord);
  draft->gating_plugin = facts.fields.gating_plugin;
  const bool is_owed = draft->needs_ticket || InPool(after.queued);
  if (is_owed) {
    *announcement = moves_.Begin();
    announcement->Announce(
        {MoveName(id, facts.version, after.queued), NoteOf(cause), draft->flight});
  }
  const bool is_done = table_.Exchange(id, pinned, after);
  if (is_done) {
    draft->Published();
    // And again now that nobody clears its marks any more.
    if (!marks.empty()) rejectors_.Mark(id, marks);
    CountMove(pinned.word(), *draft, cause);
    if (tells) TellPublished(pinned, facts, *draft, cause);
    if (draft->needs_ticket) PushTicket(after.queued, ticket);
  } else if (is_owed) {
    announcement->Withdraw();
  }
  return is_done;
}

template <template <typename> class Atom, typename Shape>
inline void BasicLockfreeQueue<Atom, Shape>::CountMove(const SlotWord& before, const Draft& draft,
                                                       Cause cause) const {
  counts_.Move(before.queued, draft.place);
  if (draft.newly_rejected != kNoPlugin) metrics_.AddRejected(draft.newly_rejected, 1);
  const bool enters_pool = InPool(draft.place) && (!InPool(before.queued) || cause.takes_out_first);
  if (cause.label != kNoLabel && (draft.needs_ticket || enters_pool)) {
    metrics_.AddIncoming(draft.place, cause.label);
    const Place place = InBackoff(draft.place) ? Place::kBackoff
                        : InPool(draft.place)  ? Place::kUnschedulable
                                               : Place::kActive;
    if (place != cause.named) metrics_.AddIncomingEntity(place, cause.label, EntityType::kPod);
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::TellPublished(const Pinned& pinned, const PodFacts& facts,
                                                    const Draft& draft, Cause cause) const {
  const PodMove move{.pod = facts.key(), .number = facts.version};
  const Place from = pinned ? pinned.Shown() : Place::kAbsent;
  // Another uid under a name that was still live: the old pod is gone.
  const bool replaces = pinned && pinned.word().live && !(pinned.facts().key() == facts.key());
  std::string message;
  if (draft.pre_enqueue == PreEnqueueAnswer::kRejected) {
    message = options_.pre_enqueue->Explain(*facts.pod, facts.fields.gating_plugin);
  }
  for (QueueObserver* observer : options_.observers) {
    if (replaces) {
      const PodFacts& gone = pinned.facts();
      observer->OnDeleted(gone.pod, {.pod = gone.key(), .number = gone.VersionOfEnd()});
    }
    if (draft.pre_enqueue == PreEnqueueAnswer::kPassed) observer->OnPassed(facts.pod, move);
    if (draft.pre_enqueue == PreEnqueueAnswer::kRejected) {
      observer->OnGated(facts.pod, facts.fields.gating_plugin, message, move);
    }
    observer->OnMoved(facts.pod, from, draft.place, cause.label);
  }
}

template <template <typename> class Atom, typename Shape>
auto BasicLockfreeQueue<Atom, Shape>::TicketFor(const PodFacts& facts) -> Ticket {
  const QueueingFields& fields = facts.fields;
  return {{facts.pod->priority, fields.timestamp.time_since_epoch().count(),
           uint64_t{facts.id} << 32 | facts.version},
          fields.backoff_expiration};
}

template <template <typename> class Atom, typename Shape>
inline void BasicLockfreeQueue<Atom, Shape>::PushTicket(Place place, const Ticket& ticket) {
  if (place == Place::kActive) {
    active_.Push(ticket.entry);
  } else {
    const Instant expiration = *ticket.expiration;
    const ActiveEntry timed{0, expiration.time_since_epoch().count(), ticket.entry.ticket};
    if (place == Place::kErrorBackoff) {
      error_backoff_.Push(timed);
      return;
    }
    if (!options_.gates.PopFromBackoffQ()) {
      backoff_by_time_.Push(timed);
      return;
    }
    windows_.Push(SecondOf(expiration), ticket.entry);
  }
  const uint64_t pushes = pushes_.fetch_add(1);
  poppable_.NotifyOne();
  if (stale_watch_.IsDue(pushes)) [[unlikely]]
    DropStaleTickets(pushes);
}

// A pod that is not active by this very ticket never will be again: it comes back by another.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::DropStaleTickets(uint64_t pushes) {
  if (!stale_watch_.IsInRound()) {
    return stale_watch_.Plan(pushes, active_.Size(), Counts().active);
  }
  const auto is_stale = [this](uint64_t ticket) {
    if (IsOfGroup(ticket)) return IsGroupTicketStale(ticket);
    return !IsOf(ticket, Place::kActive, table_.Peek(IdIn(ticket)));
  };
  stale_watch_.Looked(pushes, active_.DropStale(Random(pushes).Next(), is_stale));
}

// Whether PreEnqueue may have rejected the pod before an event that would have let it through
// changed the world, and that event may have looked at the pool before the pod was in it. Events
// that the gating plugin did not register for never let the pod through.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::IsOvertaken(const Draft& draft) const {
  return last_event_of_[draft.gating_plugin].load() > draft.epoch;
}

// Asks PreEnqueue about a gated pod that was overtaken. The pod is in the pool now, so events that
// begin from here on find it there: to ask once is enough, unless another plugin rejects the pod
// now. Bound: once for each plugin, and once for each time that another thread changes the pod.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::RecheckGated(PodId id, Cause cause,
                                                   Announcement* announcement) {
  for (;;) {
    Draft draft(&table_.records(), event_epoch_.load());
    const Pinned pinned = table_.Pin(id);
    if (!pinned || pinned.word().queued != Place::kGated) return;
    draft.StartFrom(pinned);
    DecidePlace(&draft, Verdict::kAfterBackoff, /*skip_pre_enqueue=*/false);
    if (draft.place == Place::kGated && !draft.is_changed()) return;
    Announcement next;
    if (!CommitMove(id, pinned, &draft, cause, &next)) continue;
    // What this move leaves to do is announced; the pod has left the earlier one behind.
    announcement->Withdraw();
    *announcement = next;
    if (draft.place != Place::kGated || !IsOvertaken(draft)) return;
  }
}

}  // namespace schedq
