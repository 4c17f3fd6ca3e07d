// Events, and what time does: which pods an event concerns, and the flushes.
#pragma once

#include "engine/lockfree/lockfree_queue.h"

namespace schedq {

// Logged before the pool is looked at: a pod that fails meanwhile is found in the pool, or finds
// the event in the log.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Event(const ClusterEvent& event, const ObjectChange& change,
                                            const PreCheck& pre_check) {
  const PluginSet registered = options_.judge->RegisteredFor(event);
  if (!event.IsWildcard() && registered.empty()) return;
  const auto started = std::chrono::steady_clock::now();
  LogIfAnyInFlight(event, change);
  event_epoch_.fetch_add(1);
  Narrowing narrowing;
  if (options_.gates.PreQueueingHints() && !event.IsWildcard() &&
      (change.before != nullptr || change.after != nullptr)) {
    options_.judge->Narrow(event, change, &narrowing);
  } else {
    narrowing.asked_of_all = kEveryRegistration;
    narrowing.plugins_of_all = event.IsWildcard() ? all_plugins_ : registered;
  }
  JudgePool({event, change, registered, pre_check}, narrowing);
  metrics_.ObserveEventHandling(event.label, std::chrono::steady_clock::now() - started);
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::LogIfAnyInFlight(const ClusterEvent& event,
                                                       const ObjectChange& change) {
  // A pod that is popped after this begins its attempt after the event.
  if (log_.IsEmpty()) return;
  metrics_.AddInFlight(event.label, 1);
  log_.Append({event, change}, CountDropped());
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::JudgePool(const PoolEvent& incident,
                                                const Narrowing& narrowing) {
  if (narrowing.plugins_of_all.empty() && narrowing.pods.size() <= kFewPods) {
    for (const auto& [id, asked] : narrowing.pods) React(id, asked, incident);
    return;
  }
  Batch batch(event_epoch_.load());
  const auto consider = [&](PodId id, RegistrationMask asked) {
    Consider(id, asked, incident, &batch);
    if (batch.size == kBatch) JudgeBatch(incident, &batch);
  };
  if (narrowing.plugins_of_all.empty()) {
    for (const auto& [id, asked] : narrowing.pods) consider(id, asked);
  } else {
    std::vector<Narrowing::NarrowedPod> listed = narrowing.pods;
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
  JudgeBatch(incident, &batch);
}

// What does not interest the gating plugin never lets the pod through, and what no rejector
// registered for cannot help.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::IsCandidate(const Pinned& pinned,
                                                  const PoolEvent& incident) const {
  if (!pinned || !InPool(pinned.word().queued)) return false;
  if (!incident.event.IsWildcard()) {
    const QueueingFields& fields = pinned.facts().fields;
    const bool is_gated = pinned.word().queued == Place::kGated;
    if (is_gated && !incident.registered.Has(fields.gating_plugin)) return false;
    const PluginSet rejectors = fields.Rejectors();
    if (!rejectors.empty() && (rejectors & incident.registered).empty()) return false;
  }
  return !incident.pre_check || incident.pre_check(*pinned.facts().pod);
}

template <template <typename> class Atom, typename Shape>
JudgedPod BasicLockfreeQueue<Atom, Shape>::ToJudge(const PodFacts& facts,
                                                   RegistrationMask asked) const {
  return {.pod = facts.pod.get(),
          .id = facts.id,
          .unschedulable = facts.fields.unschedulable_plugins,
          .pending = facts.fields.pending_plugins,
          .asked = asked};
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Consider(PodId id, RegistrationMask asked,
                                               const PoolEvent& incident, Batch* batch) {
  Pinned pinned = table_.PinIf(id, [](const SlotWord& word) { return InPool(word.queued); });
  if (!IsCandidate(pinned, incident)) return;
  batch->judged[batch->size] = ToJudge(pinned.facts(), asked);
  batch->pinned[batch->size++] = std::move(pinned);
}

// Judges the batch, requeues those worth it, and leaves the batch empty.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::JudgeBatch(const PoolEvent& incident, Batch* batch) {
  const std::span<const JudgedPod> judged(batch->judged.data(), batch->size);
  if (judged.empty()) return;
  options_.judge->Judge(judged, incident.event, incident.change,
                        {batch->verdicts.data(), batch->size});
  for (size_t i = 0; i < judged.size(); ++i) {
    const Pinned pinned = std::move(batch->pinned[i]);
    if (batch->verdicts[i] == Verdict::kSkip) continue;
    Draft draft(&table_.records(), batch->epoch);
    draft.StartFrom(pinned);
    DecidePlace(&draft, batch->verdicts[i], /*skip_pre_enqueue=*/false);
    if (!Commit(judged[i].id, pinned, &draft, Cause{incident.event.label, true})) {
      React(judged[i].id, judged[i].asked, incident);
    }
  }
  batch->size = 0;
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::React(PodId id, RegistrationMask asked,
                                            const PoolEvent& incident) {
  // A retry means that somebody else changed this very pod.
  for (;;) {
    Draft draft(&table_.records(), event_epoch_.load());
    const Pinned pinned = table_.Pin(id);
    if (!IsCandidate(pinned, incident)) return;
    pinned.WarmPod();
    const JudgedPod judged = ToJudge(pinned.facts(), asked);
    Verdict verdict = Verdict::kSkip;
    options_.judge->Judge({&judged, 1}, incident.event, incident.change, {&verdict, 1});
    if (verdict == Verdict::kSkip) return;
    draft.StartFrom(pinned);
    DecidePlace(&draft, verdict, /*skip_pre_enqueue=*/false);
    if (Commit(id, pinned, &draft, Cause{incident.event.label, true})) return;
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushBackoff() {
  const Instant now = options_.clock->Now();
  const bool windows = options_.gates.PopFromBackoffQ();
  const Instant cutoff = windows ? TruncateToSecond(now) : now;
  if (windows) {
    windows_.Flush(SecondOf(cutoff),
                   [&](const ActiveEntry& entry) { FlushTicket(entry, Place::kBackoff); });
  } else {
    FlushByTime(&backoff_by_time_, Place::kBackoff, cutoff);
  }
  FlushByTime(&error_backoff_, Place::kErrorBackoff, cutoff);
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushByTime(TimeQueue* queue, Place place, Instant cutoff) {
  const int64_t cutoff_ns = cutoff.time_since_epoch().count();
  const auto is_due = [&](const ActiveEntry& entry) {
    return entry.timestamp_ns < cutoff_ns ? Consent::kTake : Consent::kLeave;
  };
  while (std::optional<ActiveEntry> entry = queue->TryPopIf(is_due)) FlushTicket(*entry, place);
}

// A stale ticket is dropped.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushTicket(const ActiveEntry& entry, Place place) {
  const auto id = static_cast<PodId>(entry.ticket >> 32);
  // A retry means that the pod was updated in place.
  for (;;) {
    Draft draft(&table_.records(), event_epoch_.load());
    const Pinned pinned = table_.Pin(id);
    const SlotWord word = pinned.word();
    if (!pinned || word.queued != place ||
        word.version_or_position != static_cast<uint32_t>(entry.ticket)) {
      return;
    }
    draft.StartFrom(pinned);
    DecidePlace(&draft, Verdict::kImmediately, options_.gates.PopFromBackoffQ());
    if (Commit(id, pinned, &draft, Cause{LabelOf(SpecialLabel::kBackoffComplete)})) return;
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushUnschedulable() {
  const Instant now = options_.clock->Now();
  std::vector<PodId> due;
  rejectors_.ForEach(all_plugins_, table_.limit(), [&](PodId id) {
    const Pinned pinned =
        table_.PinIf(id, [](const SlotWord& word) { return InPool(word.queued); });
    if (pinned && IsDueForFlush(pinned.facts().fields, now)) due.push_back(id);
  });
  if (due.empty()) return;
  LogIfAnyInFlight(UnschedulableTimeoutEvent(), {});
  for (const PodId id : due) Rescue(id, now);
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
    if (Commit(id, pinned, &draft, Cause{timeout.label, true})) return;
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Run() {
  const Instant now = options_.clock->Now();
  // With the gate on, a window is flushed at the second at which it ends.
  const Instant first =
      options_.gates.PopFromBackoffQ() ? TruncateToSecond(now) + kSecond : now + kSecond;
  std::lock_guard lock(tickers_mutex_);
  if (is_closed_.load() || !tickers_.empty()) return;
  tickers_.push_back(options_.clock->Every(first, kSecond, [this] { FlushBackoff(); }));
  tickers_.push_back(options_.clock->Every(now + kFlushUnschedulablePeriod,
                                           kFlushUnschedulablePeriod,
                                           [this] { FlushUnschedulable(); }));
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Close() {
  std::vector<TimerId> tickers;
  {
    std::lock_guard lock(tickers_mutex_);
    is_closed_.store(true);
    tickers.swap(tickers_);
  }
  // Outside the mutex: Cancel waits for a tick that runs.
  for (const TimerId ticker : tickers) options_.clock->Cancel(ticker);
  std::vector<PodKey> flying;
  for (PodId id = 0; id < table_.limit(); ++id) {
    const Pinned pinned = table_.Pin(id);
    if (!pinned) continue;
    ForEachFlight(pinned, [&](const PodFacts& facts) { flying.push_back(facts.key()); });
  }
  for (const PodKey& key : flying) EndFlight(key);
  poppable_.NotifyAll();
}

}  // namespace schedq
