// What the queue is told of the cluster: pods added, updated and deleted, activations, nominations.
#include "engine/classic/classic_queue.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/names/name_link.h"
#include "engine/base/result.h"
#include "engine/classic/entity.h"
#include "engine/classic/replacement.h"
#include "engine/classic/retreat.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_events.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queueing_fields.h"
#include "engine/refusal.h"
#include "engine/told.h"

namespace schedq {

ClassicQueue::ClassicQueue(QueueOptions options)
    : options_(std::move(options)),
      metrics_(options_.metrics, options_.plugin_names, options_.gates.GenericWorkload(),
               [this] { return Counts(); }),
      entities_(options_.pod_names),
      backoff_(BackoffOrder{options_.gates.PopFromBackoffQ()}),
      error_backoff_(BackoffOrder{/*windows=*/false}),
      tree_(options_.gates.CompositePodGroup()),
      tickers_(options_.clock) {}

ClassicQueue::~ClassicQueue() { Close(); }

Status ClassicQueue::Add(PodRef pod) {
  std::lock_guard lock(mutex_);
  Status status = AddLocked(pod);
  TellObservers();
  return status;
}

Status ClassicQueue::AddLocked(const PodRef& pod) {
  const std::string& node = pod->nominated_node_name;
  const bool is_refused = HasNameTooLong(*pod, node) || !HasRoomFor(*pod);
  PodEntity* entity = is_refused ? nullptr : entities_.FindOrCreate(pod);
  if (entity == nullptr) return Refused("add", *pod, node);
  PodEntity* const replaced = ReplacedBy(*entity, *pod);
  if (replaced == nullptr && entity->live && entity->IsQueued()) {
    const PodRef before = entity->pod;
    UpdateQueued(*entity, before, pod);
    return Status::Ok();
  }
  std::optional<Replacement> replacement;
  try {
    if (replaced != nullptr) replacement.emplace(*this, *replaced);
  } catch (...) {
    entities_.ReleaseIfGone(entity);
    throw;
  }
  const QueueingFields fields = entity->fields;
  const PodRef before = entity->pod;
  const bool was_live = entity->live;
  const std::string nominated(was_live ? nominator_.NodeOf(entity->key) : std::string_view());
  entity->pod = pod;
  entity->live = true;
  entity->fields = QueueingFields();
  entity->fields.timestamp = options_.clock->Now();
  // First, so that the pod cannot be popped before its nomination is known.
  nominator_.Set(entity->key, pod->nominated_node_name);
  try {
    Enter(*entity);
  } catch (...) {
    // PreEnqueue threw: there is no such pod, or the one that was in flight already.
    nominator_.Set(entity->key, nominated);
    entity->pod = before;
    entity->live = was_live;
    entity->fields = fields;
    if (replacement) replacement->Undo();
    entities_.ReleaseIfGone(entity);
    throw;
  }
  if (replacement) replacement->Finish();
  return Status::Ok();
}

// The live pod that is gone when `pod`, whose record is `entity`, comes: of another uid, or of
// another group, because the group may not change. Null: none.
PodEntity* ClassicQueue::ReplacedBy(PodEntity& entity, const Pod& pod) const {
  if (entity.older != nullptr && entity.older->live) return entity.older;
  const bool is_of_another_group =
      options_.gates.GenericWorkload() && entity.pod->group_name != pod.group_name;
  return entity.live && is_of_another_group ? &entity : nullptr;
}

void ClassicQueue::Enter(PodEntity& pod) {
  if (IsMember(*pod.pod)) return Join(pod);
  const Place from = pod.Shown();
  const EventLabel label = UnscheduledPodAddLabel();
  MoveToActive(pod, label, /*skip_pre_enqueue=*/false);
  TellMoved(pod, from, label);
}

// Of a pod that is updated where it is there is no question.
bool ClassicQueue::HasRoomFor(const Pod& pod) const {
  if (options_.pods_max == 0) return true;
  const PodKey key = FindKey(pod);
  const PodEntity* entity = entities_.Find(key);
  if (entity != nullptr && entity->live && entity->IsQueued()) return true;
  const uint64_t others = options_.pod_names->size() - (key.id == kNoPod ? 0 : 1);
  return others < options_.pods_max;
}

Status ClassicQueue::Refused(std::string_view operation, const Pod& pod,
                             std::string_view node) const {
  const uint64_t pods_max = options_.pods_max == 0 ? NameLink::kIndexMax : options_.pods_max;
  return Refusal(operation, pod, node, pods_max);
}

Status ClassicQueue::Update(PodRef before, PodRef after) {
  std::lock_guard lock(mutex_);
  Status status = UpdateLocked(std::move(before), after);
  TellObservers();
  return status;
}

std::optional<Status> ClassicQueue::UpdateUnlessAway(PodRef before, PodRef after) {
  std::lock_guard lock(mutex_);
  UpdateAnswer answer = TryUpdateLocked(std::move(before), after);
  if (answer.is_away) return std::nullopt;
  if (!answer.status) answer.status = AddLocked(after);
  TellObservers();
  return answer.status;
}

Status ClassicQueue::UpdateLocked(PodRef before, const PodRef& after) {
  UpdateAnswer answer = TryUpdateLocked(std::move(before), after);
  return answer.status ? *std::move(answer.status) : AddLocked(after);
}

UpdateAnswer ClassicQueue::TryUpdateLocked(PodRef before, const PodRef& after) {
  PodEntity* entity = entities_.Find(FindKey(*after));
  if (entity == nullptr || !entity->live) return {};
  if (ReplacedBy(*entity, *after) != nullptr) return {};
  if (!before) before = entity->pod;
  if (entity->in_flight) {
    // This pod will judge these events when it fails, and so will others in flight: the log is
    // shared.
    entity->pod = after;
    if (IsMember(*after) && !RootOf(*after)) return {Status::Ok()};
    const ObjectChange change = TargetPodChange(before, after);
    for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
      LogIfAnyInFlight(event, change);
    }
    return {Status::Ok()};
  }
  if (!entity->IsQueued()) return {std::nullopt, /*is_away=*/true};
  if (HasNameTooLong(*after, after->nominated_node_name)) {
    return {Refused("update", *after, after->nominated_node_name)};
  }
  UpdateQueued(*entity, before, after);
  return {Status::Ok()};
}

void ClassicQueue::UpdateQueued(PodEntity& pod, const PodRef& before, const PodRef& after) {
  pod.pod = after;
  UpdateNomination(pod.key, *before, *after);
  // A group stands by what its object says.
  if (pod.group == nullptr) pod.sorted_priority = after->priority;
  if (pod.queued == Place::kActive) {
    active_.Resort(&pod);
  } else if (InBackoff(pod.queued)) {
    BackoffOf(pod).Resort(&pod);
  } else if (InPool(pod.Queued())) {
    JudgeUpdate(pod.group != nullptr ? static_cast<Entity&>(*pod.group) : pod, before, after);
  }
}

// Of an entity of the pool: the best verdict of its pods, one event after the other.
void ClassicQueue::JudgeUpdate(Entity& entity, const PodRef& before, const PodRef& after) {
  const ObjectChange change = TargetPodChange(before, after);
  for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
    Verdict best = Verdict::kSkip;
    ForEachPod(entity, [&](const PodEntity& pod) {
      const JudgedPod judged = ToJudge(pod, kEveryRegistration);
      Verdict verdict = Verdict::kSkip;
      options_.judge->Judge({&judged, 1}, event, change, {&verdict, 1});
      best = std::max(best, verdict);
    });
    const Place from = entity.queued;
    Requeue(entity, best, event.label);
    if (best != Verdict::kSkip) TellMoved(entity, from, event.label);
    if (!InPool(entity.queued)) return;
  }
}

// If either version names a node, that of the new version replaces the nomination in memory. If
// neither does, the nomination in memory was made here and not yet written, and is kept.
void ClassicQueue::UpdateNomination(const PodKey& key, const Pod& before, const Pod& after) {
  if (before.nominated_node_name.empty() && after.nominated_node_name.empty()) return;
  nominator_.Set(key, after.nominated_node_name);
}

void ClassicQueue::Delete(const Pod& pod) {
  std::lock_guard lock(mutex_);
  PodEntity* entity = entities_.Find(FindKey(pod));
  if (entity != nullptr) DeleteLocked(*entity);
  TellObservers();
}

// A pod in flight stays in flight until Fail or Done. PreEnqueue is asked about the rest of a
// group; if it throws, nothing has happened.
void ClassicQueue::DeleteLocked(PodEntity& pod) {
  const bool was_queued = pod.IsQueued();
  TakeAway(pod);
  Gone(pod, was_queued);
}

void ClassicQueue::TakeAway(PodEntity& pod) {
  if (IsMember(*pod.pod)) {
    if (pod.live) Leave(pod);
  } else if (pod.IsQueued()) {
    const Place from = pod.queued;
    RemoveFromQueue(pod);
    TellMoved(pod, from, kNoLabel);
  }
}

void ClassicQueue::Gone(PodEntity& pod, bool was_queued) {
  GoneButKept(pod, was_queued);
  entities_.ReleaseIfGone(&pod);
}

void ClassicQueue::GoneButKept(PodEntity& pod, bool was_queued) {
  const bool was_live = std::exchange(pod.live, false);
  nominator_.Clear(pod.key);
  if (was_queued) {
    pod.fields.Rejectors().ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
  }
  if (was_live && !options_.observers.empty()) {
    Tell({.what = Told::What::kDeleted, .pod = pod.pod, .move = {.pod = pod.key}});
  }
}

void ClassicQueue::Bind(const PodKey& key) {
  std::lock_guard lock(mutex_);
  PodEntity* pod = entities_.Find(key);
  if (pod == nullptr) return;
  const bool was_in_flight = pod->in_flight.has_value();
  const bool was_queued = pod->IsQueued();
  const bool is_member = IsMember(*pod->pod);
  // A member first: that asks PreEnqueue about the rest of its group, which may throw.
  if (is_member) TakeAway(*pod);
  if (pod->live && pod->fields.was_flushed) metrics_.AddScheduledAfterFlush();
  EndInFlight(*pod);
  if (was_in_flight && !was_queued) TellPodMoved(*pod, Place::kInFlight, kNoLabel);
  if (!is_member) TakeAway(*pod);
  Gone(*pod, was_queued);
  TellObservers();
}

void ClassicQueue::Activate(std::span<const PodRef> pods) {
  std::lock_guard lock(mutex_);
  for (const PodRef& named : pods) ActivateLocked(*named);
  TellObservers();
}

void ClassicQueue::ActivateLocked(const Pod& named) {
  PodEntity* pod = entities_.Find(FindKey(named));
  if (pod == nullptr) return;
  Entity* entity = pod;
  bool may_log = true;
  if (IsMember(*pod->pod)) {
    const std::optional<GroupKey> root = RootOf(*pod->pod);
    GroupEntity* const group = root ? FindGroup(*root) : nullptr;
    if (group != nullptr) entity = group;
    may_log = root.has_value();
  }
  if (InPool(entity->queued) || InBackoff(entity->queued)) {
    ActivateEntity(*entity);
  } else if (pod->in_flight && may_log) {
    LogIfAnyInFlight(ForceActivateEvent(), TargetPodChange(nullptr, pod->pod));
  }
}

void ClassicQueue::ActivateEntity(Entity& entity) {
  const EventLabel label = LabelOf(SpecialLabel::kForceActivate);
  const Place from = entity.queued;
  bool skip_pre_enqueue = false;
  Retreat retreat(*this, entity);
  if (InBackoff(from)) {
    RemoveFromQueue(entity);
    skip_pre_enqueue = options_.gates.PopFromBackoffQ();
  }
  MoveToActive(entity, label, skip_pre_enqueue);
  retreat.NotNeeded();
  TellMoved(entity, from, label);
}

Status ClassicQueue::Nominate(const PodRef& pod, std::string_view node) {
  std::lock_guard lock(mutex_);
  PodEntity* entity = entities_.Find(FindKey(*pod));
  // A pod that is not live or is bound cannot be nominated; it has no nomination to drop either.
  if (entity == nullptr || !entity->live) return Status::Ok();
  if (HasNameTooLong(*pod, node)) return Refused("nominate", *pod, node);
  nominator_.Set(entity->key, node);
  return Status::Ok();
}

}  // namespace schedq
