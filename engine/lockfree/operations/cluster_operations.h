// What the cluster tells of pods that are no members: they come, change and go, are activated and
// nominated.
//
// Threads: all operations from any thread, lock-free if PreEnqueue and the judge are.
// Linearization: the exchange of the pod's slot word. Of an update or an activation of a pod in
// flight: the event's link in the log. Bind is two steps: the attempt ends, then the pod leaves.
// Failure results: Add, Update and Nominate are refused where there is no room for what is new;
// then nothing has happened.
// Parts: QueueParts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/names/held_name.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/moves/move_cause.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/moves/place_decision.h"
#include "engine/lockfree/moves/pod_mover.h"
#include "engine/lockfree/moves/pool_judge.h"
#include "engine/lockfree/operations/flights.h"
#include "engine/lockfree/operations/log_event.h"
#include "engine/lockfree/pods/pod_change.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_events.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "engine/refusal.h"
#include "engine/told.h"

namespace schedq {

template <typename Parts>
class ClusterOperations {
 public:
  using Pinned = typename Parts::Pinned;
  using Change = typename Parts::Change;
  using CarriedNomination = typename Parts::CarriedNomination;

  ClusterOperations(Parts* parts, PodMover<Parts>* mover, MoveFinisher<Parts>* finisher,
                    Flights<Parts>* flights)
      : parts_(*parts), mover_(*mover), finisher_(*finisher), flights_(*flights) {}
  ClusterOperations(const ClusterOperations&) = delete;
  ClusterOperations& operator=(const ClusterOperations&) = delete;

  Status Add(PodRef&& pod) {
    return Add(std::move(pod), [](PodId) {});
  }
  // The same. Calls `before_move(PodId)` when nothing but the exchange is left to do, each time
  // that it is tried. What that throws leaves this, and nothing has happened.
  template <typename BeforeMove>
  Status Add(PodRef&& pod, const BeforeMove& before_move);
  // Nothing: the pod is in no queue and not in flight; it is to be added.
  UpdateAnswer Update(const PodRef& before, const PodRef& after);
  void Delete(const Pod& pod);
  void Bind(const PodKey& key);
  void Activate(const Pod& pod);
  Status Nominate(const Pod& pod, std::string_view node);
  // False: the slot changed, try again. Adds what observers are to be told of by TellRemoved.
  bool RemoveFromCluster(const PodKey& key, std::vector<Told>* told);
  void TellRemoved(const std::vector<Told>& told) const;

 private:
  // What became of an attempt to change a pod's slot: the slot changed (try again), the pod is not
  // known, it is live and nowhere, or there was no room for what is new.
  enum class Outcome : uint8_t { kDone, kChanged, kAbsent, kAway, kRefused };
  // Whether an attempt that is in flight is told of the update, and nothing else is done.
  enum class UpdateOf : uint8_t { kAttemptFirst, kQueuedPod };

  template <typename BeforeMove>
  Outcome TryAdd(PodId id, Change* change, bool* is_new, const BeforeMove& before_move);
  Outcome TryAddKnown(PodId id, const Pinned& pinned, const PodRef& pod);
  bool HasRoom() const;
  Status Refused(std::string_view operation, const Pod& pod, std::string_view node) const;
  void EnsureSlot(PodId id);
  uint32_t OlderAttempts(const Pinned& pinned);
  Outcome TryUpdate(PodId id, const PodRef& before, const PodRef& after, UpdateOf update_of);
  void UpdateInFlight(const PodKey& key, Place place, const PodRef& before, const PodRef& after);
  void JudgeUpdate(const PodKey& key, const PodRef& before, const PodRef& after);
  bool TryActivate(const PodKey& key);
  [[gnu::noinline, gnu::cold]] void NoteRemoved(const PodRef& pod, const SlotWord& before,
                                                const PodMove& move, Place to,
                                                std::vector<Told>* told) const;

  Parts& parts_;
  PodMover<Parts>& mover_;
  MoveFinisher<Parts>& finisher_;
  Flights<Parts>& flights_;
};

// What does not depend on the name's number is done while the memory of the name's place comes.
template <typename Parts>
template <typename BeforeMove>
Status ClusterOperations<Parts>::Add(PodRef&& pod, const BeforeMove& before_move) {
  finisher_.FinishLeft();
  Interner::Newcomer name(parts_.options.pod_names, pod->namespace_name, pod->name);
  const Instant now = parts_.options.clock->Now();
  const uint64_t fingerprint = UidFingerprint(pod->uid);
  name.Prepare();
  bool is_new = false;
  // The name's number with a reference, which a new slot keeps. A slot that had a record holds the
  // name already; nor does one keep it if PreEnqueue throws.
  struct NameOfAdd {
    ~NameOfAdd() {
      if (id != kNoPod && !is_kept) names->Release(id);
    }
    Interner* const names;
    const bool& is_kept;
    PodId id = kNoPod;
  };
  NameOfAdd taken{parts_.options.pod_names, is_new};
  // A retry means that another thread changed this very pod.
  for (;;) {
    Change change(&parts_.table.records(), parts_.epochs.Begun(), now);
    change.StartFrom(std::move(pod), fingerprint);
    change.Edit().fields.timestamp = now;
    if (taken.id == kNoPod) {
      taken.id = name.Acquire();
      if (taken.id == kNoPod) [[unlikely]]
        return Refused("add", *change.facts().pod, {});
      EnsureSlot(taken.id);
    }
    const Outcome outcome = TryAdd(taken.id, &change, &is_new, before_move);
    if (outcome == Outcome::kDone) return Status::Ok();
    if (outcome == Outcome::kRefused) {
      const Pod& refused = *change.facts().pod;
      return Refused("add", refused, refused.nominated_node_name);
    }
    pod = std::move(change.Edit().pod);
  }
}

// Each pod that is there holds its name. So do pods that others know by the same interner, and
// those of Adds that are under way, this one among them. An attempt of an earlier incarnation holds
// a record of its own.
template <typename Parts>
bool ClusterOperations<Parts>::HasRoom() const {
  const uint64_t pods = parts_.options.pod_names->size();
  return pods <= parts_.pods_max &&
         pods + parts_.counts.Read().in_flight <= parts_.table.records().pods_max();
}

template <typename Parts>
[[gnu::noinline, gnu::cold]] Status ClusterOperations<Parts>::Refused(std::string_view operation,
                                                                      const Pod& pod,
                                                                      std::string_view node) const {
  return Refusal(operation, pod, node, parts_.pods_max);
}

template <typename Parts>
void ClusterOperations<Parts>::EnsureSlot(PodId id) {
  if (id < parts_.table.limit()) return;
  // Marks first: a thread that sees a slot below the table's limit looks for its marks.
  parts_.rejectors.Ensure(parts_.table.LimitWith(id));
  parts_.table.Ensure(id);
}

template <typename Parts>
template <typename BeforeMove>
auto ClusterOperations<Parts>::TryAdd(PodId id, Change* change, bool* is_new,
                                      const BeforeMove& before_move) -> Outcome {
  PodFacts& facts = change->Edit();
  facts.id = id;
  const Pinned pinned = parts_.table.Pin(id);
  const bool is_known = pinned && pinned.facts().key() == facts.key() && pinned.word().live &&
                        pinned.word().queued != Place::kAbsent;
  if (is_known) return TryAddKnown(id, pinned, facts.pod);
  if (parts_.table.records().Used() >= parts_.pods_max && !HasRoom()) [[unlikely]]
    return Outcome::kRefused;
  const CarriedNomination nomination(&parts_.nominations, change, id,
                                     facts.pod->nominated_node_name);
  if (nomination.is_refused()) [[unlikely]]
    return Outcome::kRefused;
  // An attempt that is still in flight under the name stays so, as an older one.
  if (pinned) facts.older = OlderAttempts(pinned);
  DecidePlace(parts_.options, change, Verdict::kImmediately, /*skip_pre_enqueue=*/false);
  PluginSet replaced_rejectors;
  Nomination replaced_nomination;
  if (pinned) {
    replaced_nomination = pinned.facts().nomination;
    if (pinned.word().queued != Place::kAbsent) {
      replaced_rejectors = pinned.facts().fields.Rejectors();
    }
  }
  const MoveCause cause{UnscheduledPodAddLabel(), /*takes_out_first=*/true};
  before_move(id);
  // Before the exchange: what throws after it leaves the name to the slot.
  *is_new = !pinned;
  if (!mover_.Commit(id, pinned, change, cause)) {
    *is_new = false;
    return Outcome::kChanged;
  }
  parts_.nominations.End(id, replaced_nomination);
  replaced_rejectors.ForEach([&](PluginId plugin) { parts_.metrics.AddRejected(plugin, -1); });
  return Outcome::kDone;
}

// A pod that is in a queue is updated there.
template <typename Parts>
auto ClusterOperations<Parts>::TryAddKnown(PodId id, const Pinned& pinned, const PodRef& pod)
    -> Outcome {
  const PodRef before = pinned.facts().pod;
  const Outcome outcome = TryUpdate(id, before, pod, UpdateOf::kQueuedPod);
  const bool is_nowhere = outcome == Outcome::kAbsent || outcome == Outcome::kAway;
  return is_nowhere ? Outcome::kChanged : outcome;
}

// A reference to the newest record whose attempt is in flight.
template <typename Parts>
uint32_t ClusterOperations<Parts>::OlderAttempts(const Pinned& pinned) {
  typename Parts::Records& records = parts_.table.records();
  if (pinned.word().attempt == AttemptState::kUnderWay) {
    const uint32_t copy = records.Copy(pinned.facts());
    pinned.TakeOver(&records.MutableAt(copy));
    return copy;
  }
  const uint32_t older = pinned.IsInFlight() ? pinned.word().record : pinned.facts().older;
  if (older != kNoRecord) records.Retain(older);
  return older;
}

template <typename Parts>
UpdateAnswer ClusterOperations<Parts>::Update(const PodRef& before, const PodRef& after) {
  finisher_.FinishLeft();
  const PodKey key = parts_.FindKey(*after);
  Outcome outcome = key.id == kNoPod ? Outcome::kAbsent : Outcome::kChanged;
  while (outcome == Outcome::kChanged) {
    outcome = TryUpdate(key.id, before, after, UpdateOf::kAttemptFirst);
  }
  if (outcome == Outcome::kAbsent || outcome == Outcome::kAway) {
    return {std::nullopt, outcome == Outcome::kAway};
  }
  if (outcome == Outcome::kDone) return {Status::Ok()};
  return {Refused("update", *after, after->nominated_node_name)};
}

template <typename Parts>
auto ClusterOperations<Parts>::TryUpdate(PodId id, const PodRef& known_before, const PodRef& after,
                                         UpdateOf update_of) -> Outcome {
  Change change(&parts_.table.records(), parts_.epochs.Begun());
  const Pinned pinned = finisher_.PinFinished(id);
  const PodKey key{id, UidFingerprint(after->uid)};
  if (!pinned || !pinned.word().live || !(pinned.facts().key() == key)) return Outcome::kAbsent;
  const PodRef before = known_before ? known_before : pinned.facts().pod;
  const Place place = pinned.word().queued;
  const bool is_in_flight =
      update_of == UpdateOf::kAttemptFirst && flights_.Of(pinned, key) != nullptr;
  if (!is_in_flight && place == Place::kAbsent) return Outcome::kAway;

  change.StartFrom(pinned);
  change.Edit().pod = after;
  change.place = place;
  // A node that is named by either version replaces what is in memory; if neither names one, what
  // is in memory was decided here and not yet written, and is kept.
  const bool is_renominated = !is_in_flight && (!before->nominated_node_name.empty() ||
                                                !after->nominated_node_name.empty());
  const Nomination old_nomination = pinned.facts().nomination;
  std::optional<CarriedNomination> nomination;
  if (is_renominated)
    nomination.emplace(&parts_.nominations, &change, id, after->nominated_node_name);
  if (nomination && nomination->is_refused()) [[unlikely]]
    return Outcome::kRefused;
  // Only the key's change needs a new ticket; in flight nothing is sorted again.
  const bool is_sorted = place == Place::kActive ||
                         (place == Place::kBackoff && parts_.options.gates.PopFromBackoffQ());
  const bool stands_elsewhere = pinned.facts().fields.stands_by_older_priority ||
                                pinned.facts().pod->priority != after->priority;
  change.needs_ticket = !is_in_flight && is_sorted && stands_elsewhere;
  change.Edit().fields.stands_by_older_priority = is_in_flight && is_sorted && stands_elsewhere;
  if (!mover_.Commit(id, pinned, &change, MoveCause())) return Outcome::kChanged;
  if (is_renominated) parts_.nominations.End(id, old_nomination);
  if (is_in_flight) {
    UpdateInFlight(key, place, before, after);
  } else if (InPool(place)) {
    JudgeUpdate(key, before, after);
  }
  return Outcome::kDone;
}

// The failing pod will judge these, and so will others in flight: the log is shared. If the pod has
// failed since, it is in the pool and did not see them: then they are judged here. One that was
// deleted and created anew can have been in the pool, `place`, all the time: it stays there.
template <typename Parts>
void ClusterOperations<Parts>::UpdateInFlight(const PodKey& key, Place place, const PodRef& before,
                                              const PodRef& after) {
  const ObjectChange change = TargetPodChange(before, after);
  for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
    LogIfAnyInFlight(&parts_, event, change);
  }
  if (InPool(place)) return;
  const Pinned pinned = parts_.table.Pin(key.id);
  if (pinned && pinned.facts().key() == key && InPool(pinned.word().queued)) {
    JudgeUpdate(key, before, after);
  }
}

// Judges a pod of the pool for the events of its own update, until it has left the pool.
template <typename Parts>
void ClusterOperations<Parts>::JudgeUpdate(const PodKey& key, const PodRef& before,
                                           const PodRef& after) {
  const ObjectChange update = TargetPodChange(before, after);
  for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
    // A retry means that another thread changed this very pod.
    for (bool is_done = false; !is_done;) {
      Change change(&parts_.table.records(), parts_.epochs.Begun());
      const Pinned pinned = parts_.table.Pin(key.id);
      if (!pinned || !(pinned.facts().key() == key) || !InPool(pinned.word().queued)) return;
      const JudgedPod judged = ToJudge(pinned.facts());
      Verdict verdict = Verdict::kSkip;
      parts_.options.judge->Judge({&judged, 1}, event, update, {&verdict, 1});
      if (verdict == Verdict::kSkip) break;
      change.StartFrom(pinned);
      DecidePlace(parts_.options, &change, verdict, /*skip_pre_enqueue=*/false);
      is_done = mover_.Commit(key.id, pinned, &change,
                              MoveCause{event.label, false, PlaceNamedBy(verdict)});
    }
  }
}

template <typename Parts>
void ClusterOperations<Parts>::Delete(const Pod& pod) {
  const PodKey key = parts_.FindKey(pod);
  std::vector<Told> told;
  while (key.id != kNoPod && !RemoveFromCluster(key, &told)) {
  }
  TellRemoved(told);
}

// In flight it stays so until Fail or Done.
template <typename Parts>
bool ClusterOperations<Parts>::RemoveFromCluster(const PodKey& key, std::vector<Told>* told) {
  const Pinned pinned = parts_.table.Pin(key.id);
  if (!pinned || !(pinned.facts().key() == key)) return true;
  const PodFacts& facts = pinned.facts();
  const SlotWord before = pinned.word();
  SlotWord after = before;
  const bool is_gone = !pinned.IsInFlight() && facts.older == kNoRecord;
  const bool is_in_flight = !is_gone && flights_.Of(pinned, key) != nullptr;
  Change without_nomination(&parts_.table.records(), 0);
  if (is_gone) {
    after = {.version_or_position = facts.version};
  } else if (!(facts.nomination == Nomination())) {
    without_nomination.StartFrom(pinned);
    without_nomination.Edit().nomination = {};
    after = WordWith(before, without_nomination);
  }
  after.live = false;
  after.queued = Place::kAbsent;
  const PodRef pod = facts.pod;
  const Nomination nomination = facts.nomination;
  const PluginSet rejectors = facts.fields.Rejectors();
  if (!parts_.table.Exchange(key.id, pinned, after)) return false;
  without_nomination.Published();
  parts_.nominations.End(key.id, nomination);
  parts_.counts.Move(before.queued, Place::kAbsent);
  const HeldName released(parts_.options.pod_names, is_gone ? key.id : kNoPod);
  if (before.queued != Place::kAbsent) {
    rejectors.ForEach([&](PluginId plugin) { parts_.metrics.AddRejected(plugin, -1); });
  }
  if (!parts_.options.observers.empty()) [[unlikely]] {
    NoteRemoved(pod, before, {.pod = key, .number = facts.VersionOfEnd()},
                is_in_flight ? Place::kInFlight : Place::kAbsent, told);
  }
  return true;
}

template <typename Parts>
void ClusterOperations<Parts>::NoteRemoved(const PodRef& pod, const SlotWord& before,
                                           const PodMove& move, Place to,
                                           std::vector<Told>* told) const {
  if (before.queued != Place::kAbsent) {
    told->push_back(
        {.what = Told::What::kMoved, .pod = pod, .move = {}, .from = before.queued, .to = to});
  }
  if (before.live) told->push_back({.what = Told::What::kDeleted, .pod = pod, .move = move});
}

template <typename Parts>
void ClusterOperations<Parts>::TellRemoved(const std::vector<Told>& told) const {
  if (told.empty()) [[likely]]
    return;
  TellAll(told, *parts_.options.pre_enqueue, parts_.options.observers);
}

template <typename Parts>
void ClusterOperations<Parts>::Bind(const PodKey& key) {
  PodRef ending;  // In flight and not queued; null where nobody is to be told.
  {
    const Pinned pinned = parts_.table.Pin(key.id);
    if (!pinned) return;
    const bool is_newest = pinned.facts().key() == key;
    if (is_newest && pinned.word().live && pinned.facts().fields.was_flushed) {
      parts_.metrics.AddScheduledAfterFlush();
    }
    if (!parts_.options.observers.empty()) [[unlikely]] {
      const PodFacts* const attempt = flights_.Of(pinned, key);
      const bool is_queued = is_newest && pinned.word().queued != Place::kAbsent;
      if (attempt != nullptr && !is_queued) ending = attempt->pod;
    }
  }
  std::vector<Told> told;
  if (flights_.End(key) && ending != nullptr) {
    told.push_back({.what = Told::What::kMoved,
                    .pod = std::move(ending),
                    .move = {},
                    .from = Place::kInFlight,
                    .to = Place::kAbsent});
  }
  while (!RemoveFromCluster(key, &told)) {
  }
  TellRemoved(told);
}

template <typename Parts>
void ClusterOperations<Parts>::Activate(const Pod& pod) {
  const PodKey key = parts_.FindKey(pod);
  while (key.id != kNoPod && !TryActivate(key)) {
  }
}

// False: the slot changed, try again.
template <typename Parts>
bool ClusterOperations<Parts>::TryActivate(const PodKey& key) {
  Change change(&parts_.table.records(), parts_.epochs.Begun());
  const Pinned pinned = finisher_.PinFinished(key.id);
  if (!pinned) return true;
  const bool is_newest = pinned.facts().key() == key;
  const Place place = is_newest ? pinned.word().queued : Place::kAbsent;
  if (InPool(place) || InBackoff(place)) {
    change.StartFrom(pinned);
    DecidePlace(parts_.options, &change, Verdict::kImmediately,
                InBackoff(place) && parts_.options.gates.PopFromBackoffQ());
    return mover_.Commit(key.id, pinned, &change, MoveCause{LabelOf(SpecialLabel::kForceActivate)});
  }
  // In active it stays; a flight of its uid from before it was created anew is told all the same.
  const PodFacts* const attempt = flights_.Of(pinned, key);
  if (attempt == nullptr) return true;
  LogIfAnyInFlight(&parts_, ForceActivateEvent(),
                   TargetPodChange(nullptr, is_newest ? pinned.facts().pod : attempt->pod));
  // If it has failed since, it did not see this, and must be activated where it is now.
  return !is_newest || !InPool(parts_.table.Peek(key.id).queued);
}

template <typename Parts>
Status ClusterOperations<Parts>::Nominate(const Pod& pod, std::string_view node) {
  const PodKey key = parts_.FindKey(pod);
  if (key.id == kNoPod) return Status::Ok();
  for (;;) {
    const Pinned pinned = finisher_.PinFinished(key.id);
    // A pod that is not live cannot be nominated; it has no nomination to drop either.
    if (!pinned || !pinned.word().live || !(pinned.facts().key() == key)) return Status::Ok();
    Change change(&parts_.table.records(), 0);
    change.StartFrom(pinned);
    const Nomination old_nomination = pinned.facts().nomination;
    const CarriedNomination nomination(&parts_.nominations, &change, key.id, node);
    if (nomination.is_refused()) [[unlikely]]
      return Refused("nominate", pod, node);
    if (!parts_.table.Exchange(key.id, pinned, WordWith(pinned.word(), change))) continue;
    change.Published();
    parts_.nominations.End(key.id, old_nomination);
    return Status::Ok();
  }
}

}  // namespace schedq
