// One scheduling attempt: popped, in flight, done or failed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/logged_event.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"

namespace schedq {

// Each round without an answer met a stale ticket, or a push of another thread.
template <template <typename> class Atom, typename Shape>
std::optional<PoppedPod> BasicLockfreeQueue<Atom, Shape>::TryPop() {
  const bool pops_from_backoff = options_.gates.PopFromBackoffQ();
  // Which pods come next is known before they are popped: fetch what will be touched.
  const auto warm = [this](uint64_t further, uint64_t near) {
    table_.WarmRecord(static_cast<PodId>(further >> 32));
    table_.WarmPod(static_cast<PodId>(near >> 32));
  };
  std::optional<PoppedPod> popped;
  for (;;) {
    const uint64_t pushes = pushes_.load();
    if (const std::optional<ActiveEntry> entry =
            active_.template TryPopAhead<Shape::kWarmAhead>(warm)) {
      if (Take(*entry, Place::kActive, &popped)) return popped;
      continue;
    }
    if (!pops_from_backoff) return popped;
    // Active was empty. It still is where this is asked, unless somebody has pushed.
    const auto is_unchanged = [&] { return pushes_.load() == pushes; };
    ActiveEntry entry;
    switch (windows_.TryPopFirst(is_unchanged, &entry)) {
      case EarlyPop::kTaken:
        if (Take(entry, Place::kBackoff, &popped)) return popped;
        break;
      case EarlyPop::kEmpty:
        if (is_unchanged()) return popped;
        break;
      case EarlyPop::kChanged:
        break;
    }
  }
}

template <template <typename> class Atom, typename Shape>
std::optional<PoppedPod> BasicLockfreeQueue<Atom, Shape>::Pop(std::optional<Duration> timeout) {
  std::optional<MonotonicTime> deadline;
  if (timeout) deadline = std::chrono::steady_clock::now() + *timeout;
  for (;;) {
    if (std::optional<PoppedPod> popped = TryPop()) return popped;
    const auto ticket = poppable_.PrepareWait();
    // Asked before the look: what came before Close is popped before a Pop returns nothing.
    const bool is_closed = is_closed_.load();
    std::optional<PoppedPod> popped = TryPop();
    if (popped || is_closed) {
      poppable_.CancelWait();
      return popped;
    }
    if (!poppable_.CommitWait(ticket, deadline)) return TryPop();
  }
}

// False: the ticket is stale, or its uid is in flight already and the pod is discarded.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::Take(const ActiveEntry& entry, Place place,
                                           std::optional<PoppedPod>* taken) {
  const auto id = static_cast<PodId>(entry.ticket >> 32);
  const auto version = static_cast<uint32_t>(entry.ticket);
  // A retry means that the pod was updated in place.
  for (;;) {
    const Pinned pinned = table_.Pin(id);
    const SlotWord before = pinned.word();
    if (!pinned || before.queued != place || before.version_or_position != version) {
      return false;
    }
    const PodFacts& facts = pinned.facts();
    if (FlightOf(pinned, facts.key()) != nullptr) {
      Discard(id, pinned);
      continue;
    }
    // Before the exchange: who sees the pod in flight finds its place in the log.
    const FlightPosition flight = log_.Begin();
    SlotWord after = before;
    after.queued = Place::kAbsent;
    after.attempt = AttemptState::kUnderWay;
    after.version_or_position = flight.node_plus_one;
    if (!table_.Exchange(id, pinned, after)) {
      EndInLog(flight);
      continue;
    }
    PoppedPod& popped = taken->emplace();
    popped.pod = facts.pod;
    popped.key = facts.key();
    popped.cycle = cycle_.fetch_add(1) + 1;
    popped.fields = facts.fields;
    ++popped.fields.attempts;
    counts_.Move(place, Place::kInFlight);
    if (place == Place::kBackoff) {
      metrics_.AddIncoming(Place::kActive, LabelOf(SpecialLabel::kPopFromBackoffQ));
    }
    metrics_.AddInFlight(LabelOf(SpecialLabel::kPodPopped), 1);
    popped.fields.Rejectors().ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
    TellPopped(popped, place);
    return true;
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::TellPopped(const PoppedPod& popped, Place from) const {
  for (QueueObserver* observer : options_.observers) {
    observer->OnMoved(popped.pod, from, Place::kInFlight, LabelOf(SpecialLabel::kPodPopped));
    observer->OnPopped(popped.pod, popped.fields.attempts);
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Discard(PodId id, const Pinned& pinned) {
  const SlotWord before = pinned.word();
  SlotWord after = before;
  after.queued = Place::kAbsent;
  const PodRef pod = pinned.facts().pod;
  const PluginSet rejectors = pinned.facts().fields.Rejectors();
  if (!table_.Exchange(id, pinned, after)) return;
  counts_.Move(before.queued, Place::kAbsent);
  if (before.queued == Place::kBackoff) {
    metrics_.AddIncoming(Place::kActive, LabelOf(SpecialLabel::kPopFromBackoffQ));
  }
  rejectors.ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
  for (QueueObserver* observer : options_.observers) {
    observer->OnMoved(pod, before.queued, Place::kInFlight, LabelOf(SpecialLabel::kPodPopped));
  }
}

// The facts whose attempt of `key` is in flight: the newest, or those of an older one. Bound: the
// number of incarnations of one name that are in flight at once.
template <template <typename> class Atom, typename Shape>
const PodFacts* BasicLockfreeQueue<Atom, Shape>::FlightOf(const Pinned& pinned,
                                                          const PodKey& key) const {
  const PodFacts* candidate = &pinned.facts();
  if (pinned.IsInFlight() && candidate->key() == key) return candidate;
  while (candidate->older != kNoRecord) {
    candidate = &table_.records().At(candidate->older);
    if (candidate->flight.IsSet() && candidate->key() == key) return candidate;
  }
  return nullptr;
}

template <template <typename> class Atom, typename Shape>
template <typename Visit>
void BasicLockfreeQueue<Atom, Shape>::ForEachFlight(const Pinned& pinned, Visit visit) const {
  const PodFacts* facts = &pinned.facts();
  if (pinned.IsInFlight()) visit(*facts);
  while (facts->older != kNoRecord) {
    facts = &table_.records().At(facts->older);
    if (facts->flight.IsSet()) visit(*facts);
  }
}

// Takes the attempt of `key` out of facts that nobody else can see. Bound: as FlightOf.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::DropFlight(PodFacts* own, const PodKey& key) {
  if (own->flight.IsSet() && own->key() == key) {
    own->flight = {};
    return;
  }
  if (own->older == kNoRecord) return;
  PodRecordPool<Atom>& records = table_.records();
  const uint32_t before = own->older;
  const PodFacts& attempt = records.At(before);
  if (attempt.flight.IsSet() && attempt.key() == key) {
    // It was kept for its attempt alone: what is behind it takes its place.
    own->older = attempt.older;
    if (own->older != kNoRecord) records.Retain(own->older);
  } else {
    own->older = records.Copy(attempt);
    DropFlight(&records.MutableAt(own->older), key);
  }
  records.Release(before);
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Done(const PodKey& key) {
  EndFlight(key);
}

// The word once the attempt of `key`, which is in flight, is over. The newest one's end needs no
// record.
template <template <typename> class Atom, typename Shape>
SlotWord BasicLockfreeQueue<Atom, Shape>::WordWithoutFlight(const Pinned& pinned, const PodKey& key,
                                                            Draft* draft) {
  SlotWord after = pinned.word();
  if (after.attempt == AttemptState::kUnderWay && pinned.facts().key() == key) {
    after.attempt = AttemptState::kOver;
    after.version_or_position = pinned.facts().version;
  } else {
    draft->StartFrom(pinned);
    DropFlight(&draft->Edit(), key);
    after = WordWith(after, *draft);
  }
  const PodFacts& facts = draft->is_changed() ? draft->facts() : pinned.facts();
  const bool is_gone = !after.live && after.queued == Place::kAbsent && !facts.flight.IsSet() &&
                       facts.older == kNoRecord;
  return is_gone ? SlotWord{.version_or_position = facts.version} : after;
}

// Takes the attempt of `key` out of flight, if it is in flight.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::EndFlight(const PodKey& key) {
  // A retry means that somebody else changed this very pod.
  for (;;) {
    const Pinned pinned = table_.Pin(key.id);
    if (!pinned) return;
    const PodFacts* attempt = FlightOf(pinned, key);
    if (attempt == nullptr) return;
    const FlightPosition flight = PositionOf(pinned, *attempt);
    Draft draft(&table_.records(), 0);
    const SlotWord after = WordWithoutFlight(pinned, key, &draft);
    if (!table_.Exchange(key.id, pinned, after)) continue;
    // If the pod is gone, nobody names the draft's record, and it goes with the draft.
    if (after.record != kNoRecord) draft.Published();
    EndAttempt(flight);
    if (after.record == kNoRecord) options_.pod_names->Release(key.id);
    return;
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::EndInLog(FlightPosition flight) {
  log_.End(flight);
}

// The slot does not say any more that the attempt is in flight.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::EndAttempt(FlightPosition flight) {
  EndInLog(flight);
  counts_.Move(Place::kInFlight, Place::kAbsent);
  metrics_.AddInFlight(LabelOf(SpecialLabel::kPodPopped), -1);
}

template <template <typename> class Atom, typename Shape>
Status BasicLockfreeQueue<Atom, Shape>::Fail(const PodKey& key, PluginSet unschedulable,
                                             PluginSet pending) {
  Status status;
  LogJudgement judgement;
  while (!TryFail({key, unschedulable, pending}, &judgement, &status)) {
  }
  return status;
}

// False: the slot changed, try again.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::TryFail(const Failure& failure, LogJudgement* judgement,
                                              Status* status) {
  const PodKey& key = failure.key;
  const Pinned pinned = table_.Pin(key.id);
  if (!pinned) return true;
  const bool is_current = pinned.facts().key() == key && pinned.word().live;
  if (is_current && pinned.word().queued == Place::kAbsent) {
    return TryReturn(pinned, FlightOf(pinned, key), failure, judgement);
  }
  if (is_current) {
    const Pod& pod = *pinned.facts().pod;
    *status = Error("fail: pod " + pod.namespace_name + "/" + pod.name +
                    " is in a queue already: " + std::string(PlaceName(pinned.word().queued)));
  }
  EndFlight(key);
  return true;
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::CountFailure(QueueingFields* fields, PluginSet unschedulable,
                                                   PluginSet pending, Instant now) const {
  fields->unschedulable_plugins = unschedulable;
  fields->pending_plugins = pending;
  fields->gating_plugin = kNoPlugin;
  if (fields->Rejectors().empty()) {
    ++fields->consecutive_errors;
  } else {
    ++fields->unschedulable_count;
    fields->consecutive_errors = 0;
  }
  fields->timestamp = now;
  fields->backoff_expiration.reset();
  options_.backoff.ExpirationOf(fields, options_.gates.PopFromBackoffQ());
  fields->was_flushed = false;
  fields->stands_by_older_priority = false;
  fields->flush_timestamp.reset();
}

// Puts the pod back into a queue, going on from what the attempt knew; null: it is over already. No
// wake-up is lost: the pod enters its place first, and then reads what was logged meanwhile. A hint
// or PreEnqueue that throws before the pod has its place leaves it in flight; afterwards the
// attempt is over all the same.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::TryReturn(const Pinned& pinned, const PodFacts* attempt,
                                                const Failure& failure, LogJudgement* judgement) {
  Draft draft(&table_.records(), event_epoch_.load());
  const PodKey key = pinned.facts().key();
  const bool was_in_flight = attempt != nullptr;
  const FlightPosition flight = was_in_flight ? PositionOf(pinned, *attempt) : FlightPosition();
  if (was_in_flight && !BeginJudging(pinned, flight, judgement)) return false;
  draft.StartFrom(pinned);
  PodFacts& facts = draft.Edit();
  if (was_in_flight && attempt != &pinned.facts()) facts.fields = attempt->fields;
  DropFlight(&facts, key);
  CountFailure(&facts.fields, failure.unschedulable, failure.pending, draft.Now(*options_.clock));
  const Verdict verdict = was_in_flight ? JudgeLogged(facts, judgement) : Verdict::kAfterBackoff;

  const PluginSet rejectors = facts.fields.Rejectors();
  DecidePlace(&draft, verdict, /*skip_pre_enqueue=*/false);
  const Place place = draft.place;
  const EndOfAttempt end(this, draft, flight);
  if (!Commit(key.id, pinned, &draft, Cause{LabelOf(SpecialLabel::kScheduleAttemptFailure)})) {
    return false;
  }
  rejectors.ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, 1); });
  if (InPool(place) && was_in_flight) ReadLogAgain(key.id, &*judgement->reader);
  return true;
}

// Goes on where an earlier look at the same attempt ended. False: somebody else has ended the
// attempt, so the slot has changed.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::BeginJudging(const Pinned& pinned, FlightPosition flight,
                                                   LogJudgement* judgement) {
  if (judgement->reader && judgement->position == flight) return true;
  const auto is_in_flight = [&] { return table_.IsUnchanged(pinned.facts().id, pinned); };
  judgement->position = flight;
  judgement->reader = log_.BeginReading(flight, is_in_flight);
  judgement->best = Verdict::kSkip;
  return judgement->reader.has_value();
}

// The best verdict over what was logged since the pop. Never narrowed. Goes to the log's end, so
// that what is read afterwards is new. Events that were let go unread may have been any.
template <template <typename> class Atom, typename Shape>
Verdict BasicLockfreeQueue<Atom, Shape>::JudgeLogged(const PodFacts& facts,
                                                     LogJudgement* judgement) {
  const JudgedPod judged = ToJudge(facts);
  const Verdict best_possible =
      facts.fields.pending_plugins.empty() ? Verdict::kAfterBackoff : Verdict::kImmediately;
  typename Log::Reader& reader = *judgement->reader;
  Verdict& best = judgement->best;
  // An error is retried whatever happened.
  if (facts.fields.Rejectors().empty()) best = Verdict::kAfterBackoff;
  while (best < best_possible) {
    const LoggedEvent* const logged = reader.Next();
    if (logged == nullptr) break;
    Verdict verdict = Verdict::kSkip;
    options_.judge->Judge({&judged, 1}, logged->event, logged->change, {&verdict, 1});
    best = std::max(best, verdict);
  }
  if (reader.HasMissed()) best = std::max(best, Verdict::kAfterBackoff);
  if (reader.HasMissed() || best >= best_possible) reader.SkipToEnd();
  return best;
}

// What was logged after the pod judged the log and before it was in the pool: as if these events
// found it there. What can't be read, or judged, is taken for an event that helps.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::ReadLogAgain(PodId id, typename Log::Reader* reader) {
  const PreCheck none;
  const auto react_to_anything = [&] {
    const ClusterEvent anything{.label = LabelOf(SpecialLabel::kScheduleAttemptFailure)};
    React(id, kEveryRegistration, {anything, {}, all_plugins_, none});
  };
  try {
    while (const LoggedEvent* const logged = reader->Next()) {
      const PluginSet registered = options_.judge->RegisteredFor(logged->event);
      React(id, kEveryRegistration, {logged->event, logged->change, registered, none});
    }
  } catch (...) {
    react_to_anything();
    throw;
  }
  if (reader->HasMissed()) react_to_anything();
}

}  // namespace schedq
