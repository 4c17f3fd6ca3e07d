// One scheduling attempt: popped, in flight, done or failed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

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
#include "engine/told.h"

namespace schedq {

// A pop takes a pod by the exchange of its slot; its ticket goes after that. So a thread that is
// stopped has either popped the pod or left it to others.
template <template <typename> class Atom, typename Shape>
class BasicLockfreeQueue<Atom, Shape>::Popper {
 public:
  // What active and backoff ask of a taker (ActiveQueue::TryTake).
  static constexpr bool kDropsToTake = false;
  static constexpr uint32_t kAhead = Shape::kWarmAhead;

  Popper(BasicLockfreeQueue& queue, Place from) : queue_(queue), from_(from) {}
  Popper(const Popper&) = delete;
  Popper& operator=(const Popper&) = delete;
  ~Popper() { GiveUpFlight(); }

  Consent Ask(const ActiveEntry& first) {
    GiveUpFlight();
    if (IsOfGroup(first.ticket)) [[unlikely]]
      return AskGroup(first.ticket);
    pinned_ = queue_.table_.Pin(IdIn(first.ticket));
    if (!pinned_ || !IsOf(first.ticket, from_, pinned_.word())) {
      // A pod that stands elsewhere by now has a ticket there, or its move is to be finished before
      // this pop may take another pod (Settle).
      const bool is_elsewhere = pinned_ && pinned_.word().queued != Place::kAbsent;
      if (!is_elsewhere || settled_ == first.ticket) return Consent::kDrop;
      unsettled_ = first.ticket;
      return Consent::kLeave;
    }
    is_twice_ = queue_.FlightOf(pinned_, pinned_.facts().key()) != nullptr;
    if (is_twice_) return Consent::kLeave;
    // Before the exchange: a thread that sees the pod in flight finds its place in the log. And
    // before the instant at which the pod went first: each event from then on is judged when the
    // pod fails.
    flight_ = queue_.log_.Begin();
    return Consent::kTake;
  }

  bool Claim() {
    if (group_change_) [[unlikely]]
      return ClaimGroup();
    SlotWord after = pinned_.word();
    after.queued = Place::kAbsent;
    after.attempt = AttemptState::kUnderWay;
    after.version_or_position = flight_.node_plus_one;
    if (!queue_.table_.Exchange(pinned_.facts().id, pinned_, after)) return false;
    flight_ = {};
    return true;
  }

  // Which pods come next is known before they are popped: fetch what will be touched.
  void WarmAhead(uint64_t further, uint64_t near) const {
    if (IsOfGroup(further) || IsOfGroup(near)) return;
    queue_.table_.WarmRecord(IdIn(further));
    queue_.table_.WarmPod(IdIn(near));
  }

  // What the queue knows of the pod that was taken.
  const PodFacts& facts() const { return pinned_.facts(); }
  // A group was taken instead of a pod.
  bool has_group() const { return group_change_.has_value(); }
  // What follows from that. False: no member of it could be popped.
  bool TellGroup(std::optional<PoppedPod>* popped);

  // Nothing was taken: does what the pop met and could not do while it looked.
  void Settle() {
    if (is_twice_) queue_.Discard(pinned_.facts().id, pinned_);
    is_twice_ = false;
    if (unsettled_ == 0) return;
    if (IsOfGroup(unsettled_)) {
      queue_.FinishOwed();
    } else {
      queue_.PinFinished(IdIn(unsettled_));
    }
    settled_ = std::exchange(unsettled_, 0);
  }

 private:
  void GiveUpFlight() {
    if (flight_.IsSet()) queue_.EndInLog(std::exchange(flight_, {}));
    if (group_change_) [[unlikely]]
      group_change_.reset();
  }
  Consent AskGroup(uint64_t ticket);
  bool ClaimGroup();

  BasicLockfreeQueue& queue_;
  const Place from_;
  Pinned pinned_;
  FlightPosition flight_;  // Of an attempt that is not claimed yet.
  bool is_twice_ = false;  // The pod is in flight already.
  // Tickets of pods that stand elsewhere: to be looked at, and looked at. No ticket is 0.
  uint64_t unsettled_ = 0;
  uint64_t settled_ = 0;
  // Of a group that is to be taken.
  std::optional<GroupChange> group_change_;
  std::shared_ptr<PoppedGroup> group_;
  QueueingFields group_fields_;
};

// Each round without an answer met a stale ticket, or a push of another thread.
template <template <typename> class Atom, typename Shape>
std::optional<PoppedPod> BasicLockfreeQueue<Atom, Shape>::TryPop() {
  Popper active(*this, Place::kActive);
  std::optional<PoppedPod> popped;
  for (;;) {
    const uint64_t pushes = pushes_.load();
    const Taking taking = active_.TryTake(active);
    if (taking == Taking::kTaken) {
      if (active.has_group()) [[unlikely]] {
        if (active.TellGroup(&popped)) return popped;
        continue;
      }
      Popped(active.facts(), Place::kActive, &popped.emplace());
      return popped;
    }
    if (taking != Taking::kEmpty) {
      active.Settle();
      continue;
    }
    const auto is_unchanged = [&] { return pushes_.load() == pushes; };
    if (options_.gates.PopFromBackoffQ() && TryPopEarly(is_unchanged, &popped)) return popped;
    if (is_unchanged() && !FinishAllMoves()) return popped;
  }
}

// Active was empty. It still is where `is_unchanged` is asked, unless somebody has pushed. False:
// there was nothing, or something has changed.
template <template <typename> class Atom, typename Shape>
template <typename IsUnchanged>
bool BasicLockfreeQueue<Atom, Shape>::TryPopEarly(const IsUnchanged& is_unchanged,
                                                  std::optional<PoppedPod>* popped) {
  Popper early(*this, Place::kBackoff);
  for (;;) {
    switch (windows_.TryTakeFirst(is_unchanged, early)) {
      case EarlyPop::kTaken:
        Popped(early.facts(), Place::kBackoff, &popped->emplace());
        return true;
      case EarlyPop::kEmpty:
        return false;
      case EarlyPop::kChanged:
        early.Settle();
        if (!is_unchanged()) return false;
    }
  }
}

template <template <typename> class Atom, typename Shape>
std::optional<PoppedPod> BasicLockfreeQueue<Atom, Shape>::Pop(std::optional<Duration> timeout) {
  std::optional<MonotonicTime> deadline;
  if (timeout) deadline = After(SteadyNow(), *timeout);
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

// The pod was taken: what follows from that.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Popped(const PodFacts& facts, Place from, PoppedPod* popped) {
  popped->pod = facts.pod;
  popped->key = facts.key();
  popped->cycle = cycle_.fetch_add(1) + 1;
  popped->fields = facts.fields;
  ++popped->fields.attempts;
  counts_.Move(from, Place::kInFlight);
  if (from == Place::kBackoff) {
    CountEarlyPop();
  }
  metrics_.AddInFlight(LabelOf(SpecialLabel::kPodPopped), 1);
  popped->fields.Rejectors().ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
  TellPopped(*popped, from);
}

// Nobody would end the attempt if an observer throws: the pop has no answer then. So it fails as an
// error does.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::TellPopped(const PoppedPod& popped, Place from) {
  if (options_.observers.empty()) return;
  const std::array<Told, 2> told = {{{.what = Told::What::kMoved,
                                      .pod = popped.pod,
                                      .move = {},
                                      .from = from,
                                      .to = Place::kInFlight,
                                      .label = LabelOf(SpecialLabel::kPodPopped)},
                                     {.what = Told::What::kPopped,
                                      .pod = popped.pod,
                                      .move = {},
                                      .attempts = popped.fields.attempts}}};
  try {
    TellAll(told, *options_.pre_enqueue, options_.observers);
  } catch (...) {
    try {
      static_cast<void>(Fail(popped.key, {}, {}));
    } catch (...) {
      // An observer again; the pod is back.
    }
    throw;
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
    CountEarlyPop();
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
  if (groups_ != nullptr && StateWith(key) != nullptr) [[unlikely]] {
    ChangeGroups([&](GroupChange* change) { return change->Done(key); });
    return;
  }
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
  if (groups_ != nullptr && StateWith(key) != nullptr) [[unlikely]]
    return FailMember(key, unschedulable, pending);
  FinishLeft();
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
  const Pinned pinned = PinFinished(key.id);
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

// Ends the attempt once its pod has a place and has judged the log, or when an exception says that
// it will not.
template <template <typename> class Atom, typename Shape>
class BasicLockfreeQueue<Atom, Shape>::EndOfAttempt {
 public:
  // `draft` has a record of its own until it is published.
  EndOfAttempt(BasicLockfreeQueue* queue, const Draft& draft, Announcement* announcement)
      : queue_(queue), draft_(draft), announcement_(announcement) {}
  EndOfAttempt(const EndOfAttempt&) = delete;
  EndOfAttempt& operator=(const EndOfAttempt&) = delete;
  ~EndOfAttempt() { HasReadLog(); }

  void HasReadLog() {
    if (is_over_ || draft_.own_record() != kNoRecord) return;
    is_over_ = true;
    // Elsewhere the ticket is announced, which an observer that threw has left unpublished.
    if (InPool(draft_.place)) WithdrawLog();
    if (draft_.flight.IsSet()) queue_->EndAttempt(draft_.flight);
  }

 private:
  // Before the attempt ends: a helper that reads the log for it sees by that whether it still may.
  void WithdrawLog() {
    Announcement rest = *announcement_;
    if (draft_.place == Place::kGated) {
      rest = queue_->moves_.Begin();
      rest.AnnounceRestOf(*announcement_);
    }
    announcement_->Withdraw();
    *announcement_ = rest;
  }

  BasicLockfreeQueue* const queue_;
  const Draft& draft_;
  Announcement* const announcement_;
  bool is_over_ = false;
};

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
  draft.flight = flight;
  const Cause cause{LabelOf(SpecialLabel::kScheduleAttemptFailure), false, PlaceNamedBy(verdict)};
  Announcement announcement;
  Leftover leftover(this);
  EndOfAttempt end(this, draft, &announcement);
  if (!CommitMove(key.id, pinned, &draft, cause, &announcement)) {
    leftover.Finished();
    return false;
  }
  rejectors.ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, 1); });
  if (InPool(draft.place) && was_in_flight) ReadLogAgain(key.id, &*judgement->reader);
  end.HasReadLog();
  if (draft.place == Place::kGated && IsOvertaken(draft)) {
    RecheckGated(key.id, cause, &announcement);
  }
  announcement.Withdraw();
  leftover.Finished();
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
