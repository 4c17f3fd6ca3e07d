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
#include "engine/queueing_fields.h"

namespace schedq {

// Runs PreEnqueue. A rejection makes its plugin a rejector and the gating plugin. A pass clears the
// gating plugin only, so that plugin stays a rejector until the next failure.
bool ClassicQueue::PassesPreEnqueue(Entity& entity) {
  QueueingFields& fields = entity.fields;
  const PluginId rejected = options_.pre_enqueue->Check(*entity.pod, fields.gating_plugin);
  if (rejected == kNoPlugin) {
    fields.gating_plugin = kNoPlugin;
    for (QueueObserver* observer : options_.observers) {
      observer->OnPassed(entity.pod, {.pod = entity.key});
    }
    return true;
  }
  if (!fields.Rejectors().Has(rejected)) metrics_.AddRejected(rejected, 1);
  fields.unschedulable_plugins.Insert(rejected);
  fields.gating_plugin = rejected;
  if (!options_.observers.empty()) {
    const std::string message = options_.pre_enqueue->Explain(*entity.pod, rejected);
    for (QueueObserver* observer : options_.observers) {
      observer->OnGated(entity.pod, rejected, message, {.pod = entity.key});
    }
  }
  return false;
}

// True also in the window in which backoff ends: windows are flushed whole.
bool ClassicQueue::IsBackingOff(Entity& entity) const {
  const MaybeInstant expiration =
      options_.backoff.ExpirationOf(&entity.fields, options_.gates.PopFromBackoffQ());
  if (!expiration) return false;
  const Instant now = options_.clock->Now();
  return *expiration >= (options_.gates.PopFromBackoffQ() ? TruncateToSecond(now) : now);
}

void ClassicQueue::MoveToActive(Entity& entity, EventLabel label, bool skip_pre_enqueue) {
  if (!skip_pre_enqueue && !PassesPreEnqueue(entity)) {
    entity.fields.was_flushed = false;
    PutInPool(entity, label);
    return;
  }
  if (!entity.fields.first_attempt) entity.fields.first_attempt = options_.clock->Now();
  RemoveFromPool(entity);
  entity.sorted_priority = entity.pod->priority;
  active_.Push(&entity);
  entity.queued = Place::kActive;
  metrics_.AddIncoming(Place::kActive, label);
  NotifyPoppers();
}

void ClassicQueue::MoveToBackoff(Entity& entity, EventLabel label) {
  const bool pops_from_backoff = options_.gates.PopFromBackoffQ();
  if (pops_from_backoff && !PassesPreEnqueue(entity)) {
    entity.fields.was_flushed = false;
    PutInPool(entity, label);
    return;
  }
  RemoveFromPool(entity);
  entity.queued = entity.fields.Rejectors().empty() ? Place::kErrorBackoff : Place::kBackoff;
  entity.sorted_priority = entity.pod->priority;
  BackoffOf(entity).Push(&entity);
  metrics_.AddIncoming(entity.queued, label);
  if (pops_from_backoff) NotifyPoppers();
}

// Counts the entity only if it was not in the pool at that moment.
void ClassicQueue::PutInPool(Entity& entity, EventLabel label) {
  const bool was_gated = entity.queued == Place::kGated;
  const bool is_gated = entity.fields.gating_plugin != kNoPlugin;
  if (!InPool(entity.queued)) {
    pool_.emplace(entity.key.id, &entity);
    metrics_.AddIncoming(Place::kUnschedulable, label);
  }
  entity.queued = is_gated ? Place::kGated : Place::kUnschedulable;
  gated_ += is_gated;
  gated_ -= was_gated;
}

void ClassicQueue::RemoveFromPool(Entity& entity) {
  if (!InPool(entity.queued)) return;
  gated_ -= entity.queued == Place::kGated;
  pool_.erase(entity.key.id);
  entity.queued = Place::kAbsent;
}

void ClassicQueue::Requeue(Entity& entity, Verdict verdict, EventLabel label) {
  if (verdict == Verdict::kSkip) {
    PutInPool(entity, label);
  } else if (verdict == Verdict::kAfterBackoff && IsBackingOff(entity)) {
    MoveToBackoff(entity, label);
  } else {
    MoveToActive(entity, label, /*skip_pre_enqueue=*/false);
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

void ClassicQueue::TellMoved(const Entity& entity, Place from, EventLabel label) const {
  for (QueueObserver* observer : options_.observers) {
    observer->OnMoved(entity.pod, from, entity.Shown(), label);
  }
}

void ClassicQueue::NotifyPoppers() { poppable_.notify_one(); }

}  // namespace schedq
