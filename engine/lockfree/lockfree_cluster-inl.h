// What the cluster tells the queue: pods that come, change and go, activations, nominations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/names/held_name.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_events.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/refusal.h"
#include "engine/told.h"

namespace schedq {

template <template <typename> class Atom, typename Shape>
BasicLockfreeQueue<Atom, Shape>::BasicLockfreeQueue(QueueOptions options)
    : options_(std::move(options)),
      all_plugins_(options_.plugin_names.size() >= kPluginCountMax
                       ? ~uint64_t{0}
                       : (uint64_t{1} << options_.plugin_names.size()) - 1),
      metrics_(options_.metrics, options_.plugin_names, options_.gates.GenericWorkload(),
               [this] { return Counts(); }),
      groups_(options_.gates.GenericWorkload() ? std::make_unique<Groups>(this) : nullptr),
      tickers_(options_.clock) {}

template <template <typename> class Atom, typename Shape>
BasicLockfreeQueue<Atom, Shape>::~BasicLockfreeQueue() {
  Close();
  for (PodId id = 0; id < table_.limit(); ++id) {
    if (table_.Peek(id).record != kNoRecord) options_.pod_names->Release(id);
  }
}

// The number means something only while somebody holds the name; every use checks the uid, too.
template <template <typename> class Atom, typename Shape>
PodKey BasicLockfreeQueue<Atom, Shape>::FindKey(const Pod& pod) const {
  const std::optional<PodId> id = options_.pod_names->Find(pod.namespace_name, pod.name);
  if (!id) return {};
  return {*id, UidFingerprint(pod.uid)};
}

template <template <typename> class Atom, typename Shape>
PodKey BasicLockfreeQueue<Atom, Shape>::KeyOf(const Pod& pod) const {
  return FindKey(pod);
}

// What does not depend on the name's number is done while the memory of the name's place comes.
template <template <typename> class Atom, typename Shape>
Status BasicLockfreeQueue<Atom, Shape>::Add(PodRef pod) {
  if (IsMember(*pod)) [[unlikely]]
    return AddMember(pod);
  if (groups_ != nullptr) [[unlikely]]
    RemoveMemberNamedAs(*pod);
  FinishLeft();
  Interner::Newcomer name(options_.pod_names, pod->namespace_name, pod->name);
  const Instant now = options_.clock->Now();
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
  NameOfAdd taken{options_.pod_names, is_new};
  // A retry means that somebody else changed this very pod.
  for (;;) {
    Draft draft(&table_.records(), event_epoch_.load(), now);
    draft.StartFrom(std::move(pod), fingerprint);
    draft.Edit().fields.timestamp = now;
    if (taken.id == kNoPod) {
      taken.id = name.Acquire();
      if (taken.id == kNoPod) [[unlikely]]
        return Refused("add", *draft.facts().pod, {});
      EnsureSlot(taken.id);
    }
    const Outcome outcome = TryAdd(taken.id, &draft, &is_new);
    if (outcome == Outcome::kDone) return Status::Ok();
    if (outcome == Outcome::kRefused) {
      const Pod& refused = *draft.facts().pod;
      return Refused("add", refused, refused.nominated_node_name);
    }
    pod = std::move(draft.Edit().pod);
  }
}

// Each pod that is there holds its name. So do pods that others know by the same interner, and
// those of Adds that are under way, this one among them. An attempt of an earlier incarnation holds
// a record of its own.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::HasRoom() const {
  const uint64_t pods = options_.pod_names->size();
  return pods <= pods_max_ && pods + counts_.Read().in_flight <= table_.records().pods_max();
}

template <template <typename> class Atom, typename Shape>
[[gnu::noinline, gnu::cold]] Status BasicLockfreeQueue<Atom, Shape>::Refused(
    std::string_view operation, const Pod& pod, std::string_view node) const {
  return Refusal(operation, pod, node, pods_max_);
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::EnsureSlot(PodId id) {
  if (id < table_.limit()) return;
  // Marks first: who sees a slot below the table's limit looks for its marks.
  rejectors_.Ensure(table_.LimitWith(id));
  table_.Ensure(id);
}

template <template <typename> class Atom, typename Shape>
auto BasicLockfreeQueue<Atom, Shape>::TryAdd(PodId id, Draft* draft, bool* is_new) -> Outcome {
  PodFacts& facts = draft->Edit();
  facts.id = id;
  const Pinned pinned = table_.Pin(id);
  const bool is_known = pinned && pinned.facts().key() == facts.key() && pinned.word().live &&
                        pinned.word().queued != Place::kAbsent;
  if (is_known) return TryAddKnown(id, pinned, facts.pod);
  if (table_.records().Used() >= pods_max_ && !HasRoom()) [[unlikely]]
    return Outcome::kRefused;
  const NominationOfDraft nomination(&nominations_, draft, id, facts.pod->nominated_node_name);
  if (nomination.is_refused()) [[unlikely]]
    return Outcome::kRefused;
  // An attempt that is still in flight under the name goes on as an older one.
  if (pinned) facts.older = OlderAttempts(pinned);
  DecidePlace(draft, Verdict::kImmediately, /*skip_pre_enqueue=*/false);
  PluginSet replaced_rejectors;
  Nomination replaced_nomination;
  if (pinned) {
    replaced_nomination = pinned.facts().nomination;
    if (pinned.word().queued != Place::kAbsent) {
      replaced_rejectors = pinned.facts().fields.Rejectors();
    }
  }
  const Cause cause{UnscheduledPodAddLabel(), /*takes_out_first=*/true};
  // Before the exchange: what throws after it leaves the name to the slot.
  *is_new = !pinned;
  if (!Commit(id, pinned, draft, cause)) {
    *is_new = false;
    return Outcome::kChanged;
  }
  nominations_.End(id, replaced_nomination);
  replaced_rejectors.ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
  return Outcome::kDone;
}

// A pod that is in a queue is updated there.
template <template <typename> class Atom, typename Shape>
auto BasicLockfreeQueue<Atom, Shape>::TryAddKnown(PodId id, const Pinned& pinned, const PodRef& pod)
    -> Outcome {
  const PodRef before = pinned.facts().pod;
  const Outcome outcome = TryUpdate(id, before, pod, UpdateOf::kQueuedPod);
  return outcome == Outcome::kAbsent ? Outcome::kChanged : outcome;
}

// A reference to the newest record whose attempt is in flight.
template <template <typename> class Atom, typename Shape>
uint32_t BasicLockfreeQueue<Atom, Shape>::OlderAttempts(const Pinned& pinned) {
  PodRecordPool<Atom>& records = table_.records();
  if (pinned.word().attempt == AttemptState::kUnderWay) {
    const uint32_t copy = records.Copy(pinned.facts());
    pinned.TakeOver(&records.MutableAt(copy));
    return copy;
  }
  const uint32_t older = pinned.IsInFlight() ? pinned.word().record : pinned.facts().older;
  if (older != kNoRecord) records.Retain(older);
  return older;
}

template <template <typename> class Atom, typename Shape>
Status BasicLockfreeQueue<Atom, Shape>::Update(PodRef before, PodRef after) {
  if (IsMember(*after)) [[unlikely]]
    return UpdateMember(before, after);
  FinishLeft();
  const PodKey key = FindKey(*after);
  Outcome outcome = key.id == kNoPod ? Outcome::kAbsent : Outcome::kChanged;
  while (outcome == Outcome::kChanged) {
    outcome = TryUpdate(key.id, before, after, UpdateOf::kAttemptFirst);
  }
  if (outcome == Outcome::kAbsent) return Add(after);
  if (outcome == Outcome::kDone) return Status::Ok();
  return Refused("update", *after, after->nominated_node_name);
}

template <template <typename> class Atom, typename Shape>
auto BasicLockfreeQueue<Atom, Shape>::TryUpdate(PodId id, const PodRef& known_before,
                                                const PodRef& after, UpdateOf update_of)
    -> Outcome {
  Draft draft(&table_.records(), event_epoch_.load());
  const Pinned pinned = PinFinished(id);
  const PodKey key{id, UidFingerprint(after->uid)};
  if (!pinned || !pinned.word().live || !(pinned.facts().key() == key)) return Outcome::kAbsent;
  const PodRef before = known_before ? known_before : pinned.facts().pod;
  const Place place = pinned.word().queued;
  const bool is_in_flight =
      update_of == UpdateOf::kAttemptFirst && FlightOf(pinned, key) != nullptr;
  if (!is_in_flight && place == Place::kAbsent) return Outcome::kAbsent;

  draft.StartFrom(pinned);
  draft.Edit().pod = after;
  draft.place = place;
  // A node that is named by either version replaces what is in memory; if neither names one, what
  // is in memory was decided here and not yet written, and is kept.
  const bool is_renominated = !is_in_flight && (!before->nominated_node_name.empty() ||
                                                !after->nominated_node_name.empty());
  const Nomination old_nomination = pinned.facts().nomination;
  std::optional<NominationOfDraft> nomination;
  if (is_renominated) nomination.emplace(&nominations_, &draft, id, after->nominated_node_name);
  if (nomination && nomination->is_refused()) [[unlikely]]
    return Outcome::kRefused;
  // Only the key's change needs a new ticket; in flight nothing is sorted again.
  const bool is_sorted =
      place == Place::kActive || (place == Place::kBackoff && options_.gates.PopFromBackoffQ());
  const bool stands_elsewhere = pinned.facts().fields.stands_by_older_priority ||
                                pinned.facts().pod->priority != after->priority;
  draft.needs_ticket = !is_in_flight && is_sorted && stands_elsewhere;
  draft.Edit().fields.stands_by_older_priority = is_in_flight && is_sorted && stands_elsewhere;
  if (!Commit(id, pinned, &draft, Cause())) return Outcome::kChanged;
  if (is_renominated) nominations_.End(id, old_nomination);
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
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::UpdateInFlight(const PodKey& key, Place place,
                                                     const PodRef& before, const PodRef& after) {
  const ObjectChange change = TargetPodChange(before, after);
  for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
    LogIfAnyInFlight(event, change);
  }
  if (InPool(place)) return;
  const Pinned pinned = table_.Pin(key.id);
  if (pinned && pinned.facts().key() == key && InPool(pinned.word().queued)) {
    JudgeUpdate(key, before, after);
  }
}

// Judges a pod of the pool for the events of its own update, until it has left the pool.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::JudgeUpdate(const PodKey& key, const PodRef& before,
                                                  const PodRef& after) {
  const ObjectChange change = TargetPodChange(before, after);
  for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
    // A retry means that somebody else changed this very pod.
    for (bool is_done = false; !is_done;) {
      Draft draft(&table_.records(), event_epoch_.load());
      const Pinned pinned = table_.Pin(key.id);
      if (!pinned || !(pinned.facts().key() == key) || !InPool(pinned.word().queued)) return;
      const JudgedPod judged = ToJudge(pinned.facts());
      Verdict verdict = Verdict::kSkip;
      options_.judge->Judge({&judged, 1}, event, change, {&verdict, 1});
      if (verdict == Verdict::kSkip) break;
      draft.StartFrom(pinned);
      DecidePlace(&draft, verdict, /*skip_pre_enqueue=*/false);
      is_done = Commit(key.id, pinned, &draft, Cause{event.label, false, PlaceNamedBy(verdict)});
    }
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Delete(const Pod& pod) {
  const PodKey key = FindKey(pod);
  if (IsMember(pod)) [[unlikely]] {
    ChangeGroups([&](GroupChange* change) { return change->Delete(key); });
    return;
  }
  while (key.id != kNoPod && !RemoveFromCluster(key)) {
  }
}

// In flight it stays so until Fail or Done. False: the slot changed, try again.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::RemoveFromCluster(const PodKey& key) {
  const Pinned pinned = table_.Pin(key.id);
  if (!pinned || !(pinned.facts().key() == key)) return true;
  const PodFacts& facts = pinned.facts();
  const SlotWord before = pinned.word();
  SlotWord after = before;
  const bool is_gone = !pinned.IsInFlight() && facts.older == kNoRecord;
  Draft without_nomination(&table_.records(), 0);
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
  if (!table_.Exchange(key.id, pinned, after)) return false;
  without_nomination.Published();
  nominations_.End(key.id, nomination);
  counts_.Move(before.queued, Place::kAbsent);
  const HeldName released(options_.pod_names, is_gone ? key.id : kNoPod);
  if (before.queued != Place::kAbsent) {
    rejectors.ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
  }
  if (is_observed_) [[unlikely]]
    TellRemoved(pod, before, {.pod = key, .number = facts.VersionOfEnd()},
                is_gone ? Place::kAbsent : Place::kInFlight);
  return true;
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::TellRemoved(const PodRef& pod, const SlotWord& before,
                                                  const PodMove& move, Place to) const {
  std::vector<Told> told;
  if (before.queued != Place::kAbsent) {
    told.push_back(
        {.what = Told::What::kMoved, .pod = pod, .move = {}, .from = before.queued, .to = to});
  }
  if (before.live) told.push_back({.what = Told::What::kDeleted, .pod = pod, .move = move});
  TellAll(told, *options_.pre_enqueue, options_.observers);
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Bind(const PodKey& key) {
  if (groups_ != nullptr && StateWith(key) != nullptr) [[unlikely]] {
    ChangeGroups([&](GroupChange* change) { return change->Bind(key); });
    return;
  }
  {
    const Pinned pinned = table_.Pin(key.id);
    if (!pinned) return;
    if (pinned.facts().key() == key && pinned.word().live && pinned.facts().fields.was_flushed) {
      metrics_.AddScheduledAfterFlush();
    }
  }
  EndFlight(key);
  while (!RemoveFromCluster(key)) {
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Activate(std::span<const PodRef> pods) {
  FinishLeft();
  for (const PodRef& pod : pods) {
    const PodKey key = FindKey(*pod);
    if (IsMember(*pod)) [[unlikely]] {
      ActivateMember(key, pod);
      continue;
    }
    while (key.id != kNoPod && !TryActivate(key)) {
    }
  }
}

// False: the slot changed, try again.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::TryActivate(const PodKey& key) {
  Draft draft(&table_.records(), event_epoch_.load());
  const Pinned pinned = PinFinished(key.id);
  if (!pinned || !(pinned.facts().key() == key)) return true;
  const Place place = pinned.word().queued;
  if (InPool(place) || InBackoff(place)) {
    draft.StartFrom(pinned);
    DecidePlace(&draft, Verdict::kImmediately,
                InBackoff(place) && options_.gates.PopFromBackoffQ());
    return Commit(key.id, pinned, &draft, Cause{LabelOf(SpecialLabel::kForceActivate)});
  }
  // In active it stays; a flight of its uid from before it was created anew is told all the same.
  if (FlightOf(pinned, key) == nullptr) return true;
  LogIfAnyInFlight(ForceActivateEvent(), TargetPodChange(nullptr, pinned.facts().pod));
  // If it has failed since, it did not see this, and must be activated where it is now.
  return !InPool(table_.Peek(key.id).queued);
}

template <template <typename> class Atom, typename Shape>
Status BasicLockfreeQueue<Atom, Shape>::Nominate(const PodRef& pod, std::string_view node) {
  const PodKey key = FindKey(*pod);
  if (key.id == kNoPod) return Status::Ok();
  if (IsMember(*pod)) [[unlikely]] {
    bool is_refused = false;
    ChangeGroups([&](GroupChange* change) {
      const bool is_changed = change->Nominate(key, node);
      is_refused = change->is_refused();
      return is_changed;
    });
    return is_refused ? Refused("nominate", *pod, node) : Status::Ok();
  }
  for (;;) {
    const Pinned pinned = PinFinished(key.id);
    // A pod that is not live cannot be nominated; it has no nomination to drop either.
    if (!pinned || !pinned.word().live || !(pinned.facts().key() == key)) return Status::Ok();
    Draft draft(&table_.records(), 0);
    draft.StartFrom(pinned);
    const Nomination old_nomination = pinned.facts().nomination;
    const NominationOfDraft nomination(&nominations_, &draft, key.id, node);
    if (nomination.is_refused()) [[unlikely]]
      return Refused("nominate", *pod, node);
    if (!table_.Exchange(key.id, pinned, WordWith(pinned.word(), draft))) continue;
    draft.Published();
    nominations_.End(key.id, old_nomination);
    return Status::Ok();
  }
}

}  // namespace schedq
