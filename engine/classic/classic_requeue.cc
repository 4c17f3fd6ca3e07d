// How an entity enters and leaves active, backoff and the pool.
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/classic/classic_queue.h"
#include "engine/classic/entity.h"
#include "engine/classic/replacement.h"
#include "engine/event.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/ports.h"
#include "engine/queue_metrics.h"
#include "engine/queueing_fields.h"
#include "engine/told.h"

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

// Asks every pod of the entity, also after one was rejected. The last rejection is a group's. A
// plugin that throws has changed nothing.
bool ClassicQueue::PassesPreEnqueue(Entity& entity) {
  if (!entity.is_group) {
    auto& pod = static_cast<PodEntity&>(entity);
    return Follow(AskPreEnqueue(pod), pod) == kNoPlugin;
  }
  auto& group = static_cast<GroupEntity&>(entity);
  SortMembers(&group);
  std::vector<PluginId> answers;
  for (const PodEntity* member : group.members) answers.push_back(AskPreEnqueue(*member));
  group.fields.gating_plugin = kNoPlugin;
  for (size_t i = 0; i < answers.size(); ++i) {
    const PluginId rejected = Follow(answers[i], *group.members[i]);
    if (rejected != kNoPlugin) group.fields.gating_plugin = rejected;
  }
  return group.fields.gating_plugin == kNoPlugin;
}

PluginId ClassicQueue::AskPreEnqueue(const PodEntity& pod) const {
  return options_.pre_enqueue->Check(*pod.pod, pod.fields.gating_plugin);
}

// What PreEnqueue said of the pod. A rejection makes its plugin a rejector and the gating plugin. A
// pass clears the gating plugin only, so that plugin stays a rejector until the next failure.
PluginId ClassicQueue::Follow(PluginId rejected, PodEntity& pod) {
  QueueingFields& fields = pod.fields;
  fields.gating_plugin = rejected;
  const bool is_rejected = rejected != kNoPlugin;
  if (is_rejected) {
    if (!fields.Rejectors().Has(rejected)) metrics_.AddRejected(rejected, 1);
    fields.unschedulable_plugins.Insert(rejected);
  }
  if (options_.observers.empty()) return rejected;
  Tell({.what = is_rejected ? Told::What::kGated : Told::What::kPassed,
        .pod = pod.pod,
        .move = {.pod = pod.key},
        .plugin = rejected});
  return rejected;
}

// True also in the window in which backoff ends: windows are flushed whole.
bool ClassicQueue::IsBackingOff(Entity& entity) const {
  const bool windows = options_.gates.PopFromBackoffQ();
  const MaybeInstant expiration =
      options_.backoff.OfGroup(PodsIn(entity)).ExpirationOf(&entity.fields, windows);
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
  const auto set_first_attempt = [&](QueueingFields& fields) {
    if (!fields.first_attempt) fields.first_attempt = options_.clock->Now();
  };
  set_first_attempt(entity.fields);
  if (entity.is_group) {
    ForEachPod(entity, [&](PodEntity& member) { set_first_attempt(member.fields); });
  }
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

// Without asking, counting or telling anybody: the entity was there a moment ago.
void ClassicQueue::PutIn(Entity& entity, Place place) {
  entity.queued = place;
  if (place == Place::kActive) active_.Push(&entity);
  if (InBackoff(place)) BackoffOf(entity).Push(&entity);
  if (!InPool(place)) return;
  if (entity.is_group) {
    pooled_groups_.insert(static_cast<GroupEntity*>(&entity));
  } else {
    gated_ += place == Place::kGated;
    pool_.emplace(static_cast<PodEntity&>(entity).key.id, static_cast<PodEntity*>(&entity));
  }
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
void ClassicQueue::CountIncoming(const Entity& entity, Place place, EventLabel label, Place named) {
  HeldCount count{.place = place, .label = label, .pods = PodsIn(entity), .entity = {}};
  if (place != named) count.entity = entity.is_group ? EntityType::kPodGroup : EntityType::kPod;
  if (held_counts_ != nullptr) {
    held_counts_->push_back(count);
  } else {
    Count(count);
  }
}

void ClassicQueue::Count(const HeldCount& count) {
  metrics_.AddIncoming(count.place, count.label, count.pods);
  if (count.entity) metrics_.AddIncomingEntity(count.place, count.label, *count.entity);
}

void ClassicQueue::TellMoved(Entity& entity, Place from, EventLabel label) {
  if (options_.observers.empty()) return;
  ForEachPod(entity, [&](const PodEntity& pod) { TellPodMoved(pod, from, label); });
}

void ClassicQueue::TellPodMoved(const PodEntity& pod, Place from, EventLabel label) {
  if (options_.observers.empty()) return;
  Tell({.what = Told::What::kMoved,
        .pod = pod.pod,
        .move = {},
        .from = from,
        .to = pod.Shown(),
        .label = label});
}

void ClassicQueue::Tell(Told told) { told_.push_back(std::move(told)); }

// At an operation's end: an observer that throws finds it done.
void ClassicQueue::TellObservers() {
  if (told_.empty()) return;
  const std::vector<Told> told = std::exchange(told_, {});
  TellAll(told, *options_.pre_enqueue, options_.observers);
}

void ClassicQueue::NotifyPoppers() { poppable_.notify_one(); }

}  // namespace schedq
