// How an entity enters and leaves active, backoff and the pool.
#include <string>

#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/classic/classic_queue.h"
#include "engine/classic/entity.h"
#include "engine/event.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/ports.h"
#include "engine/queue_metrics.h"
#include "engine/queueing_fields.h"

namespace schedq {
namespace {

Place PlaceNamedBy(Verdict verdict) {
  if (verdict == Verdict::kSkip) return Place::kUnschedulable;
  return verdict == Verdict::kAfterBackoff ? Place::kBackoff : Place::kActive;
}

size_t PodsIn(const Entity& entity) {
  return entity.is_group ? static_cast<const GroupEntity&>(entity).members.size() : 1;
}

}  // namespace

// Asks every pod of the entity, also after one was rejected. The last rejection is a group's.
bool ClassicQueue::PassesPreEnqueue(Entity& entity) {
  if (!entity.is_group) return AskPreEnqueue(static_cast<PodEntity&>(entity)) == kNoPlugin;
  auto& group = static_cast<GroupEntity&>(entity);
  SortMembers(&group);
  group.fields.gating_plugin = kNoPlugin;
  for (PodEntity* member : group.members) {
    const PluginId rejected = AskPreEnqueue(*member);
    if (rejected != kNoPlugin) group.fields.gating_plugin = rejected;
  }
  return group.fields.gating_plugin == kNoPlugin;
}

// Runs PreEnqueue. A rejection makes its plugin a rejector and the gating plugin. A pass clears the
// gating plugin only, so that plugin stays a rejector until the next failure.
PluginId ClassicQueue::AskPreEnqueue(PodEntity& pod) {
  QueueingFields& fields = pod.fields;
  const PluginId rejected = options_.pre_enqueue->Check(*pod.pod, fields.gating_plugin);
  fields.gating_plugin = rejected;
  if (rejected == kNoPlugin) {
    for (QueueObserver* observer : options_.observers) {
      observer->OnPassed(pod.pod, {.pod = pod.key});
    }
    return rejected;
  }
  if (!fields.Rejectors().Has(rejected)) metrics_.AddRejected(rejected, 1);
  fields.unschedulable_plugins.Insert(rejected);
  if (!options_.observers.empty()) {
    const std::string message = options_.pre_enqueue->Explain(*pod.pod, rejected);
    for (QueueObserver* observer : options_.observers) {
      observer->OnGated(pod.pod, rejected, message, {.pod = pod.key});
    }
  }
  return rejected;
}

// True also in the window in which backoff ends: windows are flushed whole.
bool ClassicQueue::IsBackingOff(Entity& entity) const {
  const bool windows = options_.gates.PopFromBackoffQ();
  const MaybeInstant expiration =
      options_.backoff.ExpirationOf(&entity.fields, windows, PodsIn(entity));
  if (!expiration) return false;
  const Instant now = options_.clock->Now();
  return *expiration >= (windows ? TruncateToSecond(now) : now);
}

int32_t ClassicQueue::PriorityOf(const Entity& entity) const {
  return entity.is_group ? tree_.Find(static_cast<const GroupEntity&>(entity).root)->priority
                         : static_cast<const PodEntity&>(entity).pod->priority;
}

void ClassicQueue::MoveToActive(Entity& entity, EventLabel label, bool skip_pre_enqueue,
                                Place named) {
  if (!skip_pre_enqueue && !PassesPreEnqueue(entity)) {
    PutGated(entity, label, named);
    return;
  }
  if (!entity.fields.first_attempt) entity.fields.first_attempt = options_.clock->Now();
  RemoveFromPool(entity);
  entity.sorted_priority = PriorityOf(entity);
  active_.Push(&entity);
  entity.queued = Place::kActive;
  CountIncoming(entity, Place::kActive, label, named);
  NotifyPoppers();
}

void ClassicQueue::MoveToBackoff(Entity& entity, EventLabel label, Place named) {
  const bool pops_from_backoff = options_.gates.PopFromBackoffQ();
  if (pops_from_backoff && !PassesPreEnqueue(entity)) {
    PutGated(entity, label, named);
    return;
  }
  RemoveFromPool(entity);
  entity.queued = entity.fields.Rejectors().empty() ? Place::kErrorBackoff : Place::kBackoff;
  entity.sorted_priority = PriorityOf(entity);
  BackoffOf(entity).Push(&entity);
  CountIncoming(entity, Place::kBackoff, label, named);
  if (pops_from_backoff) NotifyPoppers();
}

void ClassicQueue::PutGated(Entity& entity, EventLabel label, Place named) {
  entity.fields.was_flushed = false;
  ForEachPod(entity, [](PodEntity& pod) { pod.fields.was_flushed = false; });
  PutInPool(entity, label, named);
}

// Counts the entity only if it was not in the pool at that moment.
void ClassicQueue::PutInPool(Entity& entity, EventLabel label, Place named) {
  const bool was_gated = entity.queued == Place::kGated;
  const bool is_gated = entity.fields.gating_plugin != kNoPlugin;
  if (!InPool(entity.queued)) {
    if (entity.is_group) {
      pooled_groups_.insert(static_cast<GroupEntity*>(&entity));
    } else {
      pool_.emplace(static_cast<PodEntity&>(entity).key.id, static_cast<PodEntity*>(&entity));
    }
    CountIncoming(entity, Place::kUnschedulable, label, named);
  }
  entity.queued = is_gated ? Place::kGated : Place::kUnschedulable;
  if (entity.is_group) return;
  gated_ += is_gated;
  gated_ -= was_gated;
}

void ClassicQueue::RemoveFromPool(Entity& entity) {
  if (!InPool(entity.queued)) return;
  if (entity.is_group) {
    pooled_groups_.erase(static_cast<GroupEntity*>(&entity));
  } else {
    gated_ -= entity.queued == Place::kGated;
    pool_.erase(static_cast<PodEntity&>(entity).key.id);
  }
  entity.queued = Place::kAbsent;
}

void ClassicQueue::Requeue(Entity& entity, Verdict verdict, EventLabel label) {
  const Place named = PlaceNamedBy(verdict);
  if (verdict == Verdict::kSkip) {
    PutInPool(entity, label, named);
  } else if (verdict == Verdict::kAfterBackoff && IsBackingOff(entity)) {
    MoveToBackoff(entity, label, named);
  } else {
    MoveToActive(entity, label, /*skip_pre_enqueue=*/false, named);
  }
}

void ClassicQueue::RemoveFromQueue(Entity& entity) {
  if (entity.queued == Place::kActive) active_.Remove(&entity);
  if (InBackoff(entity.queued)) BackoffOf(entity).Remove(&entity);
  RemoveFromPool(entity);
  entity.queued = Place::kAbsent;
}

ClassicQueue::Backoff& ClassicQueue::BackoffOf(const Entity& entity) {
  return entity.queued == Place::kBackoff ? backoff_ : error_backoff_;
}

// `place` stands for both backoff queues, or both places of the pool.
void ClassicQueue::CountIncoming(const Entity& entity, Place place, EventLabel label,
                                 Place named) const {
  metrics_.AddIncoming(place, label, PodsIn(entity));
  if (place == named) return;
  metrics_.AddIncomingEntity(place, label,
                             entity.is_group ? EntityType::kPodGroup : EntityType::kPod);
}

void ClassicQueue::TellMoved(Entity& entity, Place from, EventLabel label) const {
  if (options_.observers.empty()) return;
  ForEachPod(entity, [&](const PodEntity& pod) { TellPodMoved(pod, from, label); });
}

void ClassicQueue::TellPodMoved(const PodEntity& pod, Place from, EventLabel label) const {
  for (QueueObserver* observer : options_.observers) {
    observer->OnMoved(pod.pod, from, pod.Shown(), label);
  }
}

void ClassicQueue::NotifyPoppers() { poppable_.notify_one(); }

}  // namespace schedq
