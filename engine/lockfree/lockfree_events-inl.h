// Events, and what time does: which pods an event concerns, and the flushes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/narrowing.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queueing_fields.h"

namespace schedq {

// Logged before the pool is looked at: a pod that fails meanwhile is found in the pool, or finds
// the event in the log.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Event(const ClusterEvent& event, const ObjectChange& change,
                                            const PreCheck& pre_check) {
  const PluginSet registered = options_.judge->RegisteredFor(event);
  if (!event.IsWildcard() && registered.empty()) return;
  FinishLeft();
  const bool is_sampled = short_event_.IsDue();
  MonotonicTime started = is_sampled ? std::chrono::steady_clock::now() : MonotonicTime();
  LogIfAnyInFlight(event, change);
  CountEvent(event.IsWildcard() ? all_plugins_ : registered);
  Narrowing narrowing;
  if (IsNarrowed(options_.gates, event, change)) {
    options_.judge->Narrow(event, change, &narrowing);
  } else {
    narrowing.asked_of_all = kEveryRegistration;
    narrowing.plugins_of_all = event.IsWildcard() ? all_plugins_ : registered;
  }
  const bool is_short = IsForFew(narrowing);
  // Up to here any event takes as long.
  if (!is_short && !is_sampled) started = std::chrono::steady_clock::now();
  const PoolEvent pool_event{event, change, registered, pre_check};
  JudgePool(pool_event, narrowing);
  if (groups_ != nullptr) [[unlikely]]
    JudgeGroups(pool_event, narrowing);
  // Pods that others have moved out of the pool for an event of theirs can be popped from here on.
  FinishAllMoves();
  const bool is_timed = !is_short || is_sampled;
  const Duration duration =
      is_timed ? std::chrono::steady_clock::now() - started : short_event_.Latest().duration;
  if (is_short && is_sampled) short_event_.Set({duration});
  metrics_.ObserveEventHandling(event.label, duration);
}

// Before the pool is looked at (IsOvertaken). A retry means that a later event came first, which
// will do.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::CountEvent(PluginSet registered) {
  const uint64_t number = event_epoch_.fetch_add(1) + 1;
  registered.ForEach([&](PluginId plugin) {
    Atom<uint64_t>& last = last_event_of_[plugin];
    uint64_t seen = last.load();
    while (seen < number && !last.compare_exchange_weak(seen, number)) {
    }
  });
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::LogIfAnyInFlight(const ClusterEvent& event,
                                                       const ObjectChange& change) {
  // A pod that is popped after this begins its attempt after the event.
  if (log_.IsEmpty()) return;
  metrics_.AddInFlight(event.label, 1);
  log_.Append({event, change});
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::JudgePool(const PoolEvent& pool_event,
                                                const Narrowing& narrowing) {
  if (IsForFew(narrowing)) {
    for (const auto& [id, asked] : narrowing.pods) React(id, asked, pool_event);
    return;
  }
  Batch batch(table_, event_epoch_.load());
  const auto consider = [&](PodId id, RegistrationMask asked) {
    if (!batch.scan.GlanceIf(id, IsInPool, &batch.glances[batch.size])) return;
    batch.judged[batch.size].asked = asked;
    batch.judged[batch.size++].id = id;
    if (batch.size == kBatch) JudgeBatch(pool_event, &batch);
  };
  if (narrowing.plugins_of_all.empty()) {
    for (const auto& [id, asked] : narrowing.pods) consider(id, asked);
  } else if (narrowing.pods.empty()) {
    const auto look = [&](PodId first, uint64_t slots) {
      auto* glance = &batch.glances[batch.size];
      JudgedPod* judged = &batch.judged[batch.size];
      batch.scan.GlanceAtPool(first, slots, [&](PodId id, const auto& seen) {
        *glance++ = seen;
        judged->id = id;
        (judged++)->asked = narrowing.asked_of_all;
      });
      const size_t before = std::exchange(batch.size, glance - batch.glances.data());
      const size_t in_pool = batch.size - before;
      if (batch.size > kBatch - rejectors_.kSlotsPerBlock) JudgeBatch(pool_event, &batch);
      return in_pool;
    };
    const auto is_in_pool = [&](PodId id) { return IsInPool(table_.Peek(id)); };
    const bool may_clear = batch.epoch % Shape::kEventsPerClear == 0;
    rejectors_.ForEachBlock(narrowing.plugins_of_all, table_.limit(), may_clear, look, is_in_pool);
  } else {
    Narrowing::Pods listed = narrowing.pods;
    std::sort(listed.begin(), listed.end(),
              [](const auto& a, const auto& b) { return a.pod < b.pod; });
    auto next = listed.begin();
    // Both in ascending order, so that each pod is considered once, with all that ask about it.
    rejectors_.ForEach(narrowing.plugins_of_all, table_.limit(), [&](PodId id) {
      for (; next != listed.end() && next->pod < id; ++next) consider(next->pod, next->asked);
      RegistrationMask asked = narrowing.asked_of_all;
      if (next != listed.end() && next->pod == id) asked |= (next++)->asked;
      consider(id, asked);
    });
    for (; next != listed.end(); ++next) consider(next->pod, next->asked);
  }
  JudgeBatch(pool_event, &batch);
}

// What does not interest the gating plugin never lets the pod through. What none of its rejectors
// registered for cannot help a pod either; the judge says so without asking anybody.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::IsCandidate(const Pinned& pinned,
                                                  const PoolEvent& pool_event) const {
  return pinned && InPool(pinned.word().queued) && Concerns(pool_event, pinned);
}

template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::Concerns(const PoolEvent& pool_event,
                                               const Pinned& pinned) const {
  if (SlotWord::IsGatedIn(pinned.bits()) && !pool_event.event.IsWildcard() &&
      !pool_event.registered.Has(pinned.facts().fields.gating_plugin)) {
    return false;
  }
  return !pool_event.pre_check || pool_event.pre_check(*pinned.facts().pod);
}

// What a record says of who is to be judged; who it is and what is asked is there already.
inline void FillIn(const PodFacts& facts, JudgedPod* judged) {
  const PluginSet unschedulable = facts.fields.unschedulable_plugins;
  const PluginSet pending = facts.fields.pending_plugins;
  judged->pod = facts.pod.get();
  judged->unschedulable = unschedulable;
  judged->pending = pending;
}

template <template <typename> class Atom, typename Shape>
JudgedPod BasicLockfreeQueue<Atom, Shape>::ToJudge(const PodFacts& facts,
                                                   RegistrationMask asked) const {
  JudgedPod judged;
  judged.id = facts.id;
  judged.asked = asked;
  FillIn(facts, &judged);
  return judged;
}

// The common case, found out for many at once.
inline bool AreAllSkipped(std::span<const Verdict> verdicts) {
  static_assert(static_cast<uint8_t>(Verdict::kSkip) == 0, "what is not to skip has a bit set");
  uint8_t bits = 0;
  for (const Verdict verdict : verdicts) bits |= static_cast<uint8_t>(verdict);
  return bits == 0;
}

// Fills in those of the batch's pods that are to be judged, and returns how many they are. Does not
// fetch the pods: that gains 2 to 4 % amid 100,000 of them, and costs as much amid 1,000.
template <template <typename> class Atom, typename Shape>
size_t BasicLockfreeQueue<Atom, Shape>::CollectCandidates(const PoolEvent& pool_event,
                                                          Batch* batch) {
  const uint64_t era = batch->scan.era();
  const size_t size = batch->size;
  size_t dropped = 0;
  for (size_t i = 0; i < size; ++i) {
    const auto& glance = batch->glances[i];
    JudgedPod& seen = batch->judged[i];
    if (!glance.IsHeldIn(era)) {
      // It came while this event was under way; such pods are few.
      React(seen.id, seen.asked, pool_event);
      ++dropped;
      continue;
    }
    const Pinned state = glance.State();
    if (!Concerns(pool_event, state)) {
      ++dropped;
      continue;
    }
    FillIn(state.facts(), &seen);
    if (dropped > 0) {
      batch->judged[i - dropped] = seen;
      batch->glances[i - dropped] = glance;
    }
  }
  return size - dropped;
}

// Judges the batch, requeues those worth it, and leaves the batch empty.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::JudgeBatch(const PoolEvent& pool_event, Batch* batch) {
  const size_t count = CollectCandidates(pool_event, batch);
  batch->size = 0;
  if (count == 0) return;
  const std::span<const JudgedPod> judged(batch->judged.data(), count);
  const std::span<Verdict> verdicts(batch->verdicts.data(), count);
  options_.judge->Judge(judged, pool_event.event, pool_event.change, verdicts);
  for (size_t i = AreAllSkipped(verdicts) ? count : 0; i < count; ++i) {
    if (verdicts[i] == Verdict::kSkip) continue;
    const Pinned pinned = table_.Pin(judged[i].id);
    Draft draft(&table_.records(), batch->epoch);
    bool is_done = false;
    if (pinned.bits() == batch->glances[i].bits()) {
      draft.StartFrom(pinned);
      DecidePlace(&draft, verdicts[i], /*skip_pre_enqueue=*/false);
      is_done = Commit(judged[i].id, pinned, &draft,
                       Cause{pool_event.event.label, true, PlaceNamedBy(verdicts[i])});
    }
    if (!is_done) React(judged[i].id, judged[i].asked, pool_event);
  }
  batch->scan.Renew();
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::React(PodId id, RegistrationMask asked,
                                            const PoolEvent& pool_event) {
  // A retry means that somebody else changed this very pod.
  for (;;) {
    Draft draft(&table_.records(), event_epoch_.load());
    const Pinned pinned = table_.Pin(id);
    if (!IsCandidate(pinned, pool_event)) return;
    pinned.WarmPod();
    const JudgedPod judged = ToJudge(pinned.facts(), asked);
    Verdict verdict = Verdict::kSkip;
    options_.judge->Judge({&judged, 1}, pool_event.event, pool_event.change, {&verdict, 1});
    if (verdict == Verdict::kSkip) return;
    draft.StartFrom(pinned);
    DecidePlace(&draft, verdict, /*skip_pre_enqueue=*/false);
    if (Commit(id, pinned, &draft, Cause{pool_event.event.label, true, PlaceNamedBy(verdict)}))
      return;
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushBackoff() {
  FinishLeft();
  const Instant now = options_.clock->Now();
  const bool windows = options_.gates.PopFromBackoffQ();
  const Instant cutoff = windows ? TruncateToSecond(now) : now;
  if (windows) {
    FlushWindows(cutoff);
  } else {
    FlushByTime(&backoff_by_time_, Place::kBackoff, cutoff);
  }
  FlushByTime(&error_backoff_, Place::kErrorBackoff, cutoff);
  // Also those whose flush another thread has begun can be popped from here on.
  FinishAllMoves();
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushByTime(TimeQueue* queue, Place place, Instant cutoff) {
  const int64_t cutoff_ns = cutoff.time_since_epoch().count();
  const auto is_due = [&](const ActiveEntry& entry) { return entry.timestamp_ns < cutoff_ns; };
  const auto flush = [&](std::span<ActiveEntry> run) {
    for (const ActiveEntry& entry : run) FlushTicket(entry.ticket, place, cutoff);
  };
  std::array<ActiveEntry, Shape::Windows::kRunEntriesMax> room;
  while (queue->MoveFirst(std::span(room), is_due, flush) > 0) {
  }
}

// Observers hear of each move before its ticket is published, so each pod is flushed alone.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushWindows(Instant cutoff) {
  const auto flush = [&](uint64_t ticket) { FlushPod(IdIn(ticket), Place::kBackoff, cutoff); };
  if (is_observed_) {
    const auto flush_each = [&](std::span<ActiveEntry> run) {
      for (const ActiveEntry& entry : run) flush(entry.ticket);
    };
    return windows_.Flush(SecondOf(cutoff), flush_each, flush);
  }
  Scan scan(table_);
  windows_.Flush(
      SecondOf(cutoff), [&](std::span<ActiveEntry> run) { FlushRun(run, cutoff, &scan); }, flush);
}

// Pods keep their key on the way from backoff to active, so what was a run there is one here.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushRun(std::span<ActiveEntry> run, Instant cutoff,
                                               Scan* scan) {
  std::array<typename Scan::Glance, decltype(windows_)::kRunEntriesMax> glances;
  size_t seen = 0;
  for (const ActiveEntry& entry : run) {
    const auto is_there = [&](const SlotWord& word) {
      return IsOf(entry.ticket, Place::kBackoff, word);
    };
    if (scan->GlanceIf(IdIn(entry.ticket), is_there, &glances[seen])) {
      run[seen++] = entry;
    } else {
      FlushPod(IdIn(entry.ticket), Place::kBackoff, cutoff);
    }
  }
  Leftover leftover(this);
  moves_.AnnounceMany(run.first(seen));
  size_t moved = 0;
  for (size_t i = 0; i < seen; ++i) {
    if (TryFlush(run[i].ticket, glances[i], *scan)) {
      run[moved++] = run[i];
    } else {
      FlushPod(IdIn(run[i].ticket), Place::kBackoff, cutoff);
    }
  }
  if (moved > 0) {
    counts_.Move(Place::kBackoff, Place::kActive, moved);
    for (size_t i = 0; i < moved; ++i) {
      const EventLabel label = LabelOf(SpecialLabel::kBackoffComplete);
      metrics_.AddIncoming(Place::kActive, label);
      metrics_.AddIncomingEntity(Place::kActive, label, EntityType::kPod);
    }
    active_.PushRun(run.data(), moved);
    const uint64_t pushes = pushes_.fetch_add(moved);
    poppable_.Notify(moved);
    if (stale_watch_.IsDue(pushes)) [[unlikely]]
      DropStaleTickets(pushes);
  }
  moves_.WithdrawMany();
  leftover.Finished();
  scan->Renew();
}

// Makes the pod active, whose ticket is then to be published as it is. False: the pod has changed,
// or its ticket or its record must.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::TryFlush(uint64_t ticket, const typename Scan::Glance& glance,
                                               const Scan& scan) {
  if (!glance.IsHeldIn(scan.era())) return false;
  const Pinned state = glance.State();
  const QueueingFields& fields = state.facts().fields;
  if (!fields.first_attempt || fields.stands_by_older_priority) return false;
  SlotWord after = state.word();
  after.queued = Place::kActive;
  return table_.Exchange(IdIn(ticket), state, after);
}

// A ticket was met in `place`. It may be stale, and the pod there all the same, if the thread that
// moved it has not come to push its new ticket: the flush must not pass it over if it is due.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushPod(PodId id, Place place, Instant cutoff) {
  // A retry means that the pod was updated in place.
  for (;;) {
    Draft draft(&table_.records(), event_epoch_.load());
    const Pinned pinned = table_.Pin(id);
    if (!pinned || pinned.word().queued != place) return;
    if (*pinned.facts().fields.backoff_expiration >= cutoff) return;
    draft.StartFrom(pinned);
    DecidePlace(&draft, Verdict::kImmediately, options_.gates.PopFromBackoffQ());
    if (Commit(id, pinned, &draft, Cause{LabelOf(SpecialLabel::kBackoffComplete)})) return;
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushUnschedulable() {
  FinishLeft();
  const Instant now = options_.clock->Now();
  std::vector<PodId> due;
  {
    const Scan scan(table_);
    rejectors_.ForEach(all_plugins_, table_.limit(), [&](PodId id) {
      const Pinned pinned = scan.LookIf(id, IsInPool);
      if (pinned && IsDueForFlush(pinned.facts().fields, now)) due.push_back(id);
    });
  }
  std::vector<GroupId> groups;
  if (groups_ != nullptr) groups = GroupsDueForFlush(now);
  if (!due.empty() || !groups.empty()) LogIfAnyInFlight(UnschedulableTimeoutEvent(), {});
  for (const PodId id : due) Rescue(id, now);
  for (const GroupId id : groups) {
    ChangeGroups(
        [&](GroupChange* change) { return change->Rescue(id, options_.max_in_unschedulable); });
  }
  // As at the end of a flush of backoff.
  FinishAllMoves();
}

template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::IsDueForFlush(const QueueingFields& fields,
                                                    Instant now) const {
  const Instant since = std::max(fields.timestamp, fields.flush_timestamp.value_or(Instant::min()));
  return now - since > options_.max_in_unschedulable;
}

// Marks the pod and judges it by the wildcard.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Rescue(PodId id, Instant now) {
  const ClusterEvent timeout = UnschedulableTimeoutEvent();
  // A retry means that somebody else changed this very pod.
  for (;;) {
    Draft draft(&table_.records(), event_epoch_.load());
    const Pinned pinned = table_.Pin(id);
    if (!pinned || !InPool(pinned.word().queued) || !IsDueForFlush(pinned.facts().fields, now)) {
      return;
    }
    draft.StartFrom(pinned);
    draft.Edit().fields.was_flushed = true;
    draft.Edit().fields.flush_timestamp = now;
    const JudgedPod judged = ToJudge(draft.facts());
    Verdict verdict = Verdict::kSkip;
    options_.judge->Judge({&judged, 1}, timeout, {}, {&verdict, 1});
    DecidePlace(&draft, verdict, /*skip_pre_enqueue=*/false);
    if (Commit(id, pinned, &draft, Cause{timeout.label, true, PlaceNamedBy(verdict)})) return;
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Run() {
  tickers_.Start(options_.gates.PopFromBackoffQ(),
                 {[this] { FlushBackoff(); }, [this] { FlushUnschedulable(); }});
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Close() {
  is_closed_.store(true);
  tickers_.Stop();
  std::vector<PodKey> flying;
  for (PodId id = 0; id < table_.limit(); ++id) {
    const Pinned pinned = table_.Pin(id);
    if (!pinned) continue;
    ForEachFlight(pinned, [&](const PodFacts& facts) { flying.push_back(facts.key()); });
  }
  for (const PodKey& key : flying) EndFlight(key);
  if (groups_ != nullptr) {
    ChangeGroups([](GroupChange* change) { return change->EndAllFlights(); });
  }
  FinishAllMoves();
  poppable_.NotifyAll();
}

}  // namespace schedq
