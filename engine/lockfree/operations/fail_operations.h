// How an attempt ends without success: its pod goes back into a queue.
//
// Threads: all operations from any thread, lock-free if hints and PreEnqueue are.
// Linearization: the exchange that gives the pod its place; its end in the log comes after.
//
// Invariants:
//  1. No wake-up is lost. The pod enters its place first, and then reads what was logged after it
//     judged the log. An event that comes later finds the pod in the pool (event_log.h).
//  2. An attempt ends once, also where a hint or PreEnqueue throws after the pod has its place.
// Parts: QueueParts.
#pragma once

#include <algorithm>
#include <optional>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/moves/move_cause.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/moves/place_decision.h"
#include "engine/lockfree/moves/pod_mover.h"
#include "engine/lockfree/moves/pool_judge.h"
#include "engine/lockfree/operations/flights.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/logged_event.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queueing_fields.h"
#include "engine/refusal.h"

namespace schedq {

template <typename Parts>
class FailOperations {
 public:
  using Pinned = typename Parts::Pinned;
  using Change = typename Parts::Change;
  using Announcement = typename Parts::Moves::Announcement;
  using Leftover = typename Parts::Moves::Leftover;

  FailOperations(Parts* parts, PodMover<Parts>* mover, PoolJudge<Parts>* pool,
                 MoveFinisher<Parts>* finisher, Flights<Parts>* flights)
      : parts_(*parts), mover_(*mover), pool_(*pool), finisher_(*finisher), flights_(*flights) {}
  FailOperations(const FailOperations&) = delete;
  FailOperations& operator=(const FailOperations&) = delete;

  // Of a pod that is no member.
  Status Fail(const PodKey& key, PluginSet unschedulable, PluginSet pending);

 private:
  // How far a failing attempt has judged the log. Kept when the slot changes under a Fail, which
  // then continues from there.
  struct LogJudgement {
    FlightPosition position;
    std::optional<typename Parts::Log::Reader> reader;  // Nothing: the attempt is over.
    Verdict best = Verdict::kSkip;
  };
  // What a Fail is told.
  struct Failure {
    PodKey key;
    PluginSet unschedulable;
    PluginSet pending;
  };
  class EndOfAttempt;

  bool TryFail(const Failure& failure, LogJudgement* judgement, Status* status);
  bool TryReturn(const Pinned& pinned, const PodFacts* attempt, const Failure& failure,
                 LogJudgement* judgement);
  bool BeginJudging(const Pinned& pinned, FlightPosition flight, LogJudgement* judgement);
  void CountFailure(QueueingFields* fields, PluginSet unschedulable, PluginSet pending,
                    Instant now) const;
  Verdict JudgeLogged(const PodFacts& facts, LogJudgement* judgement);

  Parts& parts_;
  PodMover<Parts>& mover_;
  PoolJudge<Parts>& pool_;
  MoveFinisher<Parts>& finisher_;
  Flights<Parts>& flights_;
};

template <typename Parts>
Status FailOperations<Parts>::Fail(const PodKey& key, PluginSet unschedulable, PluginSet pending) {
  finisher_.FinishLeft();
  Status status;
  LogJudgement judgement;
  while (!TryFail({key, unschedulable, pending}, &judgement, &status)) {
  }
  return status;
}

// False: the slot changed, try again.
template <typename Parts>
bool FailOperations<Parts>::TryFail(const Failure& failure, LogJudgement* judgement,
                                    Status* status) {
  const PodKey& key = failure.key;
  const Pinned pinned = finisher_.PinFinished(key.id);
  if (!pinned) return true;
  const bool is_current = pinned.facts().key() == key && pinned.word().live;
  if (is_current && pinned.word().queued == Place::kAbsent) {
    return TryReturn(pinned, flights_.Of(pinned, key), failure, judgement);
  }
  if (is_current) *status = QueuedAlready(*pinned.facts().pod, pinned.word().queued);
  flights_.End(key);
  return true;
}

template <typename Parts>
void FailOperations<Parts>::CountFailure(QueueingFields* fields, PluginSet unschedulable,
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
  parts_.options.backoff.ExpirationOf(fields, parts_.options.gates.PopFromBackoffQ());
  fields->was_flushed = false;
  fields->stands_by_older_priority = false;
  fields->flush_timestamp.reset();
}

// Ends the attempt once its pod has a place and has judged the log, or when an exception says that
// it will not.
template <typename Parts>
class FailOperations<Parts>::EndOfAttempt {
 public:
  // `change` has a record of its own until it is published.
  EndOfAttempt(FailOperations* fails, const Change& change, Announcement* announcement)
      : fails_(*fails), change_(change), announcement_(announcement) {}
  EndOfAttempt(const EndOfAttempt&) = delete;
  EndOfAttempt& operator=(const EndOfAttempt&) = delete;
  ~EndOfAttempt() { HasReadLog(); }

  void HasReadLog() {
    if (is_over_ || change_.own_record() != kNoRecord) return;
    is_over_ = true;
    // Elsewhere the ticket is announced, which an observer that threw has left unpublished.
    if (InPool(change_.place)) WithdrawLog();
    if (change_.flight.IsSet()) fails_.flights_.EndAttempt(change_.flight);
  }

 private:
  // Before the attempt ends: a helper that reads the log for it sees by that whether it still may.
  void WithdrawLog() {
    Announcement rest = *announcement_;
    if (change_.place == Place::kGated) {
      rest = fails_.parts_.moves.Begin();
      rest.AnnounceRestOf(*announcement_);
    }
    announcement_->Withdraw();
    *announcement_ = rest;
  }

  FailOperations& fails_;
  const Change& change_;
  Announcement* const announcement_;
  bool is_over_ = false;
};

// Puts the pod back into a queue, from what the attempt knew; null: it is over already. No wake-up
// is lost: the pod enters its place first, and then reads what was logged meanwhile. A hint or
// PreEnqueue that throws before the pod has its place leaves it in flight; afterwards the attempt
// is over all the same.
template <typename Parts>
bool FailOperations<Parts>::TryReturn(const Pinned& pinned, const PodFacts* attempt,
                                      const Failure& failure, LogJudgement* judgement) {
  Change change(&parts_.table.records(), parts_.epochs.Begun());
  const PodKey key = pinned.facts().key();
  const bool was_in_flight = attempt != nullptr;
  const FlightPosition flight =
      was_in_flight ? flights_.PositionOf(pinned, *attempt) : FlightPosition();
  if (was_in_flight && !BeginJudging(pinned, flight, judgement)) return false;
  change.StartFrom(pinned);
  PodFacts& facts = change.Edit();
  if (was_in_flight && attempt != &pinned.facts()) facts.fields = attempt->fields;
  flights_.Drop(&facts, key);
  CountFailure(&facts.fields, failure.unschedulable, failure.pending,
               change.Now(*parts_.options.clock));
  const Verdict verdict = was_in_flight ? JudgeLogged(facts, judgement) : Verdict::kAfterBackoff;

  const PluginSet rejectors = facts.fields.Rejectors();
  DecidePlace(parts_.options, &change, verdict, /*skip_pre_enqueue=*/false);
  change.flight = flight;
  const MoveCause cause{LabelOf(SpecialLabel::kScheduleAttemptFailure), false,
                        PlaceNamedBy(verdict)};
  Announcement announcement;
  Leftover leftover(&parts_.moves);
  EndOfAttempt end(this, change, &announcement);
  if (!mover_.CommitMove(key.id, pinned, &change, cause, &announcement)) {
    leftover.Finished();
    return false;
  }
  rejectors.ForEach([&](PluginId plugin) { parts_.metrics.AddRejected(plugin, 1); });
  if (InPool(change.place) && was_in_flight) pool_.ReadLogAgain(key.id, &*judgement->reader);
  end.HasReadLog();
  if (change.place == Place::kGated && mover_.IsOvertaken(change)) {
    mover_.RecheckGated(key.id, cause, &announcement);
  }
  announcement.Withdraw();
  leftover.Finished();
  return true;
}

// Continues where an earlier look at the same attempt ended. False: another thread has ended the
// attempt, so the slot has changed.
template <typename Parts>
bool FailOperations<Parts>::BeginJudging(const Pinned& pinned, FlightPosition flight,
                                         LogJudgement* judgement) {
  if (judgement->reader && judgement->position == flight) return true;
  const auto is_in_flight = [&] { return parts_.table.IsUnchanged(pinned.facts().id, pinned); };
  judgement->position = flight;
  judgement->reader = parts_.log.BeginReading(flight, is_in_flight);
  judgement->best = Verdict::kSkip;
  return judgement->reader.has_value();
}

// The best verdict over what was logged since the pop. Never narrowed. Goes to the log's end, so
// that what is read afterwards is new. Events that were let go unread may have been any.
template <typename Parts>
Verdict FailOperations<Parts>::JudgeLogged(const PodFacts& facts, LogJudgement* judgement) {
  const JudgedPod judged = ToJudge(facts);
  const Verdict best_possible =
      facts.fields.pending_plugins.empty() ? Verdict::kAfterBackoff : Verdict::kImmediately;
  typename Parts::Log::Reader& reader = *judgement->reader;
  Verdict& best = judgement->best;
  // An error is retried whatever happened.
  if (facts.fields.Rejectors().empty()) best = Verdict::kAfterBackoff;
  while (best < best_possible) {
    const LoggedEvent* const logged = reader.Next();
    if (logged == nullptr) break;
    Verdict verdict = Verdict::kSkip;
    parts_.options.judge->Judge({&judged, 1}, logged->event, logged->change, {&verdict, 1});
    best = std::max(best, verdict);
  }
  if (reader.HasMissed()) best = std::max(best, Verdict::kAfterBackoff);
  if (reader.HasMissed() || best >= best_possible) reader.SkipToEnd();
  return best;
}

}  // namespace schedq
