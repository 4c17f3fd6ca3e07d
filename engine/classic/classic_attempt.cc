// One scheduling attempt: popped, in flight, done or failed.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/classic/classic_queue.h"
#include "engine/classic/entity.h"
#include "engine/event.h"
#include "engine/logged_event.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"

namespace schedq {

std::optional<PoppedPod> ClassicQueue::TryPop() {
  std::lock_guard lock(mutex_);
  return PopLocked();
}

std::optional<PoppedPod> ClassicQueue::Pop(std::optional<Duration> timeout) {
  std::unique_lock lock(mutex_);
  const MonotonicTime deadline = After(SteadyNow(), timeout.value_or(Duration::zero()));
  for (;;) {
    // After Close() queued pods can still be popped.
    if (std::optional<PoppedPod> popped = PopLocked()) return popped;
    if (closed_) return std::nullopt;
    if (!timeout) {
      poppable_.wait(lock);
    } else if (poppable_.wait_until(lock, deadline) == std::cv_status::timeout) {
      return PopLocked();
    }
  }
}

std::optional<PoppedPod> ClassicQueue::PopLocked() {
  for (;;) {
    Entity* entity = nullptr;
    if (!active_.empty()) {
      entity = active_.Pop();
    } else if (options_.gates.PopFromBackoffQ() && !backoff_.empty()) {
      entity = backoff_.Pop();
      metrics_.AddIncoming(Place::kActive, LabelOf(SpecialLabel::kPopFromBackoffQ));
    } else {
      return std::nullopt;
    }
    if (std::optional<PoppedPod> popped = MoveToInFlight(*entity)) return popped;
  }
}

// nullopt: this uid is in flight already, and the entry is discarded.
std::optional<PoppedPod> ClassicQueue::MoveToInFlight(Entity& entity) {
  const Place from = entity.queued;
  entity.queued = Place::kAbsent;
  entity.fields.Rejectors().ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
  if (entity.in_flight) {
    TellMoved(entity, from, LabelOf(SpecialLabel::kPodPopped));
    return std::nullopt;
  }
  ++entity.fields.attempts;
  ++scheduling_cycle_;
  entity.in_flight = in_flight_.Begin();
  entity.popped_fields = entity.fields;
  metrics_.AddInFlight(LabelOf(SpecialLabel::kPodPopped), 1);
  TellMoved(entity, from, LabelOf(SpecialLabel::kPodPopped));
  for (QueueObserver* observer : options_.observers) {
    observer->OnPopped(entity.pod, entity.fields.attempts);
  }
  return PoppedPod{entity.pod, entity.key, scheduling_cycle_, entity.fields};
}

void ClassicQueue::Done(const PodKey& pod) {
  std::lock_guard lock(mutex_);
  Entity* entity = entities_.Find(pod);
  if (entity == nullptr) return;
  EndInFlight(*entity);
  entities_.ReleaseIfGone(entity);
}

void ClassicQueue::EndInFlight(Entity& entity) {
  if (!entity.in_flight) return;
  in_flight_.End(*entity.in_flight, [&](EventLabel label) { metrics_.AddInFlight(label, -1); });
  entity.in_flight.reset();
  metrics_.AddInFlight(LabelOf(SpecialLabel::kPodPopped), -1);
}

Status ClassicQueue::Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) {
  std::lock_guard lock(mutex_);
  Entity* entity = entities_.Find(pod);
  if (entity == nullptr) return Status::Ok();
  Status status;
  if (entity->queued != Place::kAbsent) {
    status = Error("fail: pod " + entity->pod->namespace_name + "/" + entity->pod->name +
                   " is in a queue already: " + std::string(PlaceName(entity->queued)));
  } else if (entity->live) {
    ReturnToQueue(*entity, unschedulable, pending);
  }
  EndInFlight(*entity);
  entities_.ReleaseIfGone(entity);
  return status;
}

void ClassicQueue::ReturnToQueue(Entity& entity, PluginSet unschedulable, PluginSet pending) {
  const Place from = entity.Shown();
  QueueingFields& fields = entity.fields;
  if (entity.in_flight) fields = entity.popped_fields;
  fields.unschedulable_plugins = unschedulable;
  fields.pending_plugins = pending;
  fields.gating_plugin = kNoPlugin;
  if (fields.Rejectors().empty()) {
    ++fields.consecutive_errors;
  } else {
    ++fields.unschedulable_count;
    fields.consecutive_errors = 0;
  }
  fields.timestamp = options_.clock->Now();
  fields.backoff_expiration.reset();
  fields.was_flushed = false;
  fields.flush_timestamp.reset();
  fields.Rejectors().ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, 1); });

  const EventLabel label = LabelOf(SpecialLabel::kScheduleAttemptFailure);
  Requeue(entity, JudgeLoggedEvents(entity), label);
  TellMoved(entity, from, label);
}

// The best verdict over the events that were logged since the pop. Never narrowed.
Verdict ClassicQueue::JudgeLoggedEvents(const Entity& entity) const {
  const QueueingFields& fields = entity.fields;
  if (fields.Rejectors().empty() || !entity.in_flight) return Verdict::kAfterBackoff;
  const JudgedPod judged{.pod = entity.pod.get(),
                         .id = entity.key.id,
                         .unschedulable = fields.unschedulable_plugins,
                         .pending = fields.pending_plugins};
  // Only a pending plugin can give a better verdict than after-backoff.
  const Verdict best_possible =
      fields.pending_plugins.empty() ? Verdict::kAfterBackoff : Verdict::kImmediately;
  Verdict best = Verdict::kSkip;
  in_flight_.ForEachSince(*entity.in_flight, [&](const LoggedEvent& logged) {
    Verdict verdict = Verdict::kSkip;
    options_.judge->Judge({&judged, 1}, logged.event, logged.change, {&verdict, 1});
    best = std::max(best, verdict);
    return best < best_possible;
  });
  return best;
}

}  // namespace schedq
