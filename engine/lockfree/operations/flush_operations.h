// What time does: pods whose backoff has ended become active, and pods that no event has woken for
// long are tried again.
//
// Threads: all operations from any thread, lock-free if PreEnqueue and the judge are.
// Linearization: no single moment; a flush moves pod by pod.
//
// Invariants:
//  1. A flush moves a pod before it drops the pod's ticket of backoff. So a pod that a stopped
//     thread has not moved is still found.
//  2. When a flush has returned, each pod that was due can be popped, also those that another
//     thread has begun to flush.
// Parts: QueueParts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/backoff/backoff_windows.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/moves/move_cause.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/moves/place_decision.h"
#include "engine/lockfree/moves/pod_mover.h"
#include "engine/lockfree/moves/pool_judge.h"
#include "engine/lockfree/operations/group_events.h"
#include "engine/lockfree/operations/log_event.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/lockfree/tickets/queue_ticket.h"
#include "engine/lockfree/tickets/ticket_publisher.h"
#include "engine/place.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queueing_fields.h"

namespace schedq {

template <typename Parts>
class FlushOperations {
 public:
  using Pinned = typename Parts::Pinned;
  using Change = typename Parts::Change;
  using Scan = typename Parts::Scan;
  using Leftover = typename Parts::Moves::Leftover;

  FlushOperations(Parts* parts, TicketPublisher<Parts>* tickets, PodMover<Parts>* mover,
                  MoveFinisher<Parts>* finisher, GroupEvents<Parts>* groups)
      : parts_(*parts),
        tickets_(*tickets),
        mover_(*mover),
        finisher_(*finisher),
        groups_(*groups) {}
  FlushOperations(const FlushOperations&) = delete;
  FlushOperations& operator=(const FlushOperations&) = delete;

  void FlushBackoff();
  void FlushUnschedulable();

 private:
  using TimeQueue = typename Parts::TimeQueue;

  void FlushWindows(Instant cutoff);
  void FlushRun(std::span<ActiveEntry> run, Instant cutoff, Scan* scan);
  bool TryFlush(uint64_t ticket, const typename Scan::Glance& glance, const Scan& scan);
  void FlushPod(PodId id, Place place, Instant cutoff);
  void FlushByTime(TimeQueue* queue, Place place, Instant cutoff);
  void FlushTicket(uint64_t ticket, Place place, Instant cutoff);
  void FlushFromPool(PodId id, Instant now);

  Parts& parts_;
  TicketPublisher<Parts>& tickets_;
  PodMover<Parts>& mover_;
  MoveFinisher<Parts>& finisher_;
  GroupEvents<Parts>& groups_;
};

template <typename Parts>
void FlushOperations<Parts>::FlushBackoff() {
  finisher_.FinishLeft();
  const Instant now = parts_.options.clock->Now();
  const bool windows = parts_.options.gates.PopFromBackoffQ();
  const Instant cutoff = windows ? TruncateToSecond(now) : now;
  if (windows) {
    FlushWindows(cutoff);
  } else {
    FlushByTime(&parts_.backoff_by_time, Place::kBackoff, cutoff);
  }
  FlushByTime(&parts_.error_backoff, Place::kErrorBackoff, cutoff);
  // Also those whose flush another thread has begun can be popped from here on.
  finisher_.FinishAll();
}

template <typename Parts>
void FlushOperations<Parts>::FlushByTime(TimeQueue* queue, Place place, Instant cutoff) {
  const int64_t cutoff_ns = cutoff.time_since_epoch().count();
  const auto is_due = [&](const ActiveEntry& entry) { return entry.timestamp_ns < cutoff_ns; };
  const auto flush = [&](std::span<ActiveEntry> run) {
    for (const ActiveEntry& entry : run) FlushTicket(entry.ticket, place, cutoff);
  };
  std::array<ActiveEntry, Parts::kRunEntriesMax> room;
  while (queue->MoveFirst(std::span(room), is_due, flush) > 0) {
  }
}

// A ticket was met in `place`: see FlushPod.
template <typename Parts>
void FlushOperations<Parts>::FlushTicket(uint64_t ticket, Place place, Instant cutoff) {
  if (!IsOfGroup(ticket)) [[likely]] {
    FlushPod(PodIn(ticket), place, cutoff);
    return;
  }
  groups_.Flush(GroupIn(ticket), cutoff);
}

// Observers hear of each move before its ticket is published, so each pod is flushed alone.
template <typename Parts>
void FlushOperations<Parts>::FlushWindows(Instant cutoff) {
  const auto flush = [&](uint64_t ticket) { FlushPod(PodIn(ticket), Place::kBackoff, cutoff); };
  if (parts_.is_observed) {
    const auto flush_each = [&](std::span<ActiveEntry> run) {
      for (const ActiveEntry& entry : run) flush(entry.ticket);
    };
    return parts_.windows.Flush(SecondOf(cutoff), flush_each, flush);
  }
  Scan scan(parts_.table);
  parts_.windows.Flush(
      SecondOf(cutoff), [&](std::span<ActiveEntry> run) { FlushRun(run, cutoff, &scan); }, flush);
}

// Pods keep their key on the way from backoff to active, so what was a run there is one here.
template <typename Parts>
void FlushOperations<Parts>::FlushRun(std::span<ActiveEntry> run, Instant cutoff, Scan* scan) {
  std::array<typename Scan::Glance, Parts::kRunEntriesMax> glances;
  size_t seen = 0;
  for (const ActiveEntry& entry : run) {
    const auto is_there = [&](const SlotWord& word) {
      return IsTicketOf(entry.ticket, Place::kBackoff, word);
    };
    if (scan->GlanceIf(PodIn(entry.ticket), is_there, &glances[seen])) {
      run[seen++] = entry;
    } else {
      FlushPod(PodIn(entry.ticket), Place::kBackoff, cutoff);
    }
  }
  Leftover leftover(&parts_.moves);
  parts_.moves.AnnounceMany(run.first(seen));
  size_t moved = 0;
  for (size_t i = 0; i < seen; ++i) {
    if (TryFlush(run[i].ticket, glances[i], *scan)) {
      run[moved++] = run[i];
    } else {
      FlushPod(PodIn(run[i].ticket), Place::kBackoff, cutoff);
    }
  }
  if (moved > 0) {
    parts_.counts.Move(Place::kBackoff, Place::kActive, moved);
    for (size_t i = 0; i < moved; ++i) {
      const EventLabel label = LabelOf(SpecialLabel::kBackoffComplete);
      parts_.metrics.AddIncoming(Place::kActive, label);
      parts_.metrics.AddIncomingEntity(Place::kActive, label, EntityType::kPod);
    }
    tickets_.PushRun(run.first(moved));
  }
  parts_.moves.WithdrawMany();
  leftover.Finished();
  scan->Renew();
}

// Makes the pod active, whose ticket is then to be published as it is. False: the pod has changed,
// or its ticket or its record must.
template <typename Parts>
bool FlushOperations<Parts>::TryFlush(uint64_t ticket, const typename Scan::Glance& glance,
                                      const Scan& scan) {
  if (!glance.IsHeldIn(scan.era())) return false;
  const Pinned state = glance.State();
  const QueueingFields& fields = state.facts().fields;
  if (!fields.first_attempt || fields.stands_by_older_priority) return false;
  SlotWord after = state.word();
  after.queued = Place::kActive;
  return parts_.table.Exchange(PodIn(ticket), state, after);
}

// A ticket was met in `place`. It may be stale, and the pod there all the same, if the thread that
// moved it has not come to push its new ticket: the flush must not pass it over if it is due.
template <typename Parts>
void FlushOperations<Parts>::FlushPod(PodId id, Place place, Instant cutoff) {
  // A retry means that the pod was updated in place.
  for (;;) {
    Change change(&parts_.table.records(), parts_.epochs.Begun());
    const Pinned pinned = parts_.table.Pin(id);
    if (!pinned || pinned.word().queued != place) return;
    if (*pinned.facts().fields.backoff_expiration >= cutoff) return;
    change.StartFrom(pinned);
    DecidePlace(parts_.options, &change, Verdict::kImmediately,
                parts_.options.gates.PopFromBackoffQ());
    if (mover_.Commit(id, pinned, &change, MoveCause{LabelOf(SpecialLabel::kBackoffComplete)}))
      return;
  }
}

template <typename Parts>
void FlushOperations<Parts>::FlushUnschedulable() {
  finisher_.FinishLeft();
  const Instant now = parts_.options.clock->Now();
  std::vector<PodId> due;
  {
    const Scan scan(parts_.table);
    parts_.rejectors.ForEach(parts_.all_plugins, parts_.table.limit(), [&](PodId id) {
      const Pinned pinned = scan.LookIf(id, IsInPool);
      if (pinned && IsDueForFlush(parts_.options, pinned.facts().fields, now)) due.push_back(id);
    });
  }
  std::vector<GroupId> groups;
  if (parts_.groups != nullptr) groups = groups_.DueForFlush(now);
  if (!due.empty() || !groups.empty()) LogIfAnyInFlight(&parts_, UnschedulableTimeoutEvent(), {});
  for (const PodId id : due) FlushFromPool(id, now);
  for (const GroupId id : groups) {
    groups_.FlushFromPool(id);
  }
  // As at the end of a flush of backoff.
  finisher_.FinishAll();
}

// Marks the pod and judges it by the wildcard.
template <typename Parts>
void FlushOperations<Parts>::FlushFromPool(PodId id, Instant now) {
  const ClusterEvent timeout = UnschedulableTimeoutEvent();
  // A retry means that another thread changed this very pod.
  for (;;) {
    Change change(&parts_.table.records(), parts_.epochs.Begun());
    const Pinned pinned = parts_.table.Pin(id);
    if (!pinned || !InPool(pinned.word().queued) ||
        !IsDueForFlush(parts_.options, pinned.facts().fields, now)) {
      return;
    }
    change.StartFrom(pinned);
    change.Edit().fields.was_flushed = true;
    change.Edit().fields.flush_timestamp = now;
    const JudgedPod judged = ToJudge(change.facts());
    Verdict verdict = Verdict::kSkip;
    parts_.options.judge->Judge({&judged, 1}, timeout, {}, {&verdict, 1});
    DecidePlace(parts_.options, &change, verdict, /*skip_pre_enqueue=*/false);
    if (mover_.Commit(id, pinned, &change, MoveCause{timeout.label, true, PlaceNamedBy(verdict)}))
      return;
  }
}

}  // namespace schedq
