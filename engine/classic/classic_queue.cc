// What the queue is told of the cluster: pods added, updated and deleted, activations, nominations.
#include "engine/classic/classic_queue.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/names/name_link.h"
#include "engine/base/result.h"
#include "engine/classic/entity.h"
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

namespace schedq {

ClassicQueue::ClassicQueue(QueueOptions options)
    : options_(std::move(options)),
      metrics_(options_.metrics, options_.plugin_names, options_.gates.GenericWorkload(),
               [this] { return Counts(); }),
      entities_(options_.pod_names),
      backoff_(BackoffOrder{options_.gates.PopFromBackoffQ()}),
      error_backoff_(BackoffOrder{/*windows=*/false}),
      tickers_(options_.clock) {}

ClassicQueue::~ClassicQueue() { Close(); }

Status ClassicQueue::Add(PodRef pod) {
  std::lock_guard lock(mutex_);
  return AddLocked(pod);
}

Status ClassicQueue::AddLocked(const PodRef& pod) {
  const std::string& node = pod->nominated_node_name;
  const bool is_refused = HasNameTooLong(*pod, node) || !HasRoomFor(*pod);
  Entity* entity = is_refused ? nullptr : entities_.FindOrCreate(pod);
  if (entity == nullptr) return Refused("add", *pod, node);
  if (entity->older != nullptr && entity->older->live) {
    // Another uid for a name that is still live: the old pod is gone.
    DeleteLocked(*entity->older);
  }
  if (entity->live && entity->queued != Place::kAbsent) {
    const PodRef before = entity->pod;
    UpdateQueued(*entity, before, pod);
    return Status::Ok();
  }
  const Place from = entity->Shown();
  entity->pod = pod;
  entity->live = true;
  entity->fields = QueueingFields();
  entity->fields.timestamp = options_.clock->Now();
  // First, so that the pod cannot be popped before its nomination is known.
  nominator_.Set(entity->key, pod->nominated_node_name);
  const EventLabel label = LabelOf(SpecialLabel::kUnscheduledPodAdd);
  MoveToActive(*entity, label, /*skip_pre_enqueue=*/false);
  TellMoved(*entity, from, label);
  return Status::Ok();
}

// Of a pod that is updated where it is there is no question.
bool ClassicQueue::HasRoomFor(const Pod& pod) const {
  if (options_.pods_max == 0) return true;
  const PodKey key = FindKey(pod);
  const Entity* entity = entities_.Find(key);
  if (entity != nullptr && entity->live && entity->queued != Place::kAbsent) return true;
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
  Entity* entity = entities_.Find(FindKey(*after));
  if (entity == nullptr || !entity->live) return AddLocked(after);
  if (!before) before = entity->pod;
  if (entity->in_flight) {
    // This pod will judge these events when it fails, and so will others in flight: the log is
    // shared.
    entity->pod = after;
    const ObjectChange change = TargetPodChange(before, after);
    for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
      LogIfAnyInFlight(event, change);
    }
    return Status::Ok();
  }
  if (entity->queued == Place::kAbsent) return AddLocked(after);
  if (HasNameTooLong(*after, after->nominated_node_name)) {
    return Refused("update", *after, after->nominated_node_name);
  }
  UpdateQueued(*entity, before, after);
  return Status::Ok();
}

void ClassicQueue::UpdateQueued(Entity& entity, const PodRef& before, const PodRef& after) {
  entity.pod = after;
  UpdateNomination(entity.key, *before, *after);
  entity.sorted_priority = after->priority;
  if (entity.queued == Place::kActive) {
    active_.Resort(&entity);
  } else if (InBackoff(entity.queued)) {
    BackoffOf(entity).Resort(&entity);
  } else {
    UpdatePooled(entity, before, after);
  }
}

void ClassicQueue::UpdatePooled(Entity& entity, const PodRef& before, const PodRef& after) {
  const ObjectChange change = TargetPodChange(before, after);
  for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
    const JudgedPod judged{.pod = entity.pod.get(),
                           .id = entity.key.id,
                           .unschedulable = entity.fields.unschedulable_plugins,
                           .pending = entity.fields.pending_plugins};
    Verdict verdict = Verdict::kSkip;
    options_.judge->Judge({&judged, 1}, event, change, {&verdict, 1});
    const Place from = entity.queued;
    Requeue(entity, verdict, event.label);
    if (verdict != Verdict::kSkip) TellMoved(entity, from, event.label);
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
  Entity* entity = entities_.Find(FindKey(pod));
  if (entity != nullptr) DeleteLocked(*entity);
}

// A pod in flight stays in flight until Fail or Done.
void ClassicQueue::DeleteLocked(Entity& entity) {
  const Place from = entity.queued;
  nominator_.Clear(entity.key);
  const bool was_live = std::exchange(entity.live, false);
  if (entity.queued != Place::kAbsent) {
    entity.fields.Rejectors().ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
    RemoveFromQueue(entity);
    TellMoved(entity, from, kNoLabel);
  }
  if (was_live) {
    for (QueueObserver* observer : options_.observers) {
      observer->OnDeleted(entity.pod, {.pod = entity.key});
    }
  }
  entities_.ReleaseIfGone(&entity);
}

void ClassicQueue::Bind(const PodKey& pod) {
  std::lock_guard lock(mutex_);
  Entity* entity = entities_.Find(pod);
  if (entity == nullptr) return;
  const bool was_in_flight = entity->in_flight.has_value();
  if (entity->live && entity->fields.was_flushed) metrics_.AddScheduledAfterFlush();
  EndInFlight(*entity);
  if (was_in_flight && entity->queued == Place::kAbsent) {
    TellMoved(*entity, Place::kInFlight, kNoLabel);
  }
  DeleteLocked(*entity);
}

void ClassicQueue::Activate(std::span<const PodRef> pods) {
  std::lock_guard lock(mutex_);
  const EventLabel label = LabelOf(SpecialLabel::kForceActivate);
  for (const PodRef& pod : pods) {
    Entity* entity = entities_.Find(FindKey(*pod));
    if (entity == nullptr) continue;
    const Place from = entity->queued;
    if (InPool(from)) {
      MoveToActive(*entity, label, /*skip_pre_enqueue=*/false);
      TellMoved(*entity, from, label);
    } else if (InBackoff(from)) {
      RemoveFromQueue(*entity);
      MoveToActive(*entity, label, options_.gates.PopFromBackoffQ());
      TellMoved(*entity, from, label);
    } else if (entity->in_flight) {
      LogIfAnyInFlight(ForceActivateEvent(), TargetPodChange(nullptr, entity->pod));
    }
  }
}

Status ClassicQueue::Nominate(const PodRef& pod, std::string_view node) {
  std::lock_guard lock(mutex_);
  Entity* entity = entities_.Find(FindKey(*pod));
  // A pod that is not live or is bound cannot be nominated; it has no nomination to drop either.
  if (entity == nullptr || !entity->live) return Status::Ok();
  if (HasNameTooLong(*pod, node)) return Refused("nominate", *pod, node);
  nominator_.Set(entity->key, node);
  return Status::Ok();
}

}  // namespace schedq
