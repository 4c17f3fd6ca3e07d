// One scheduling attempt: popped, in flight, done or failed.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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
#include "engine/refusal.h"
#include "engine/told.h"

namespace schedq {

std::optional<PoppedPod> ClassicQueue::TryPop() {
  std::lock_guard lock(mutex_);
  return PopAndTell();
}

// If an observer throws the pop has no answer, and nobody would end the attempt: it fails as an
// error does.
std::optional<PoppedPod> ClassicQueue::PopAndTell() {
  std::optional<PoppedPod> popped = PopLocked();
  try {
    TellObservers();
  } catch (...) {
    if (popped) GiveBack(*popped);
    throw;
  }
  return popped;
}

void ClassicQueue::GiveBack(const PoppedPod& popped) {
  const auto though_observers_throw = [&](const auto& call) {
    try {
      call();
      TellObservers();
    } catch (...) {
      // It has taken effect.
    }
  };
  if (popped.group == nullptr) {
    though_observers_throw([&] { static_cast<void>(FailLocked(popped.key, {}, {})); });
    return;
  }
  for (const PoppedPod& member : popped.group->members) {
    though_observers_throw([&] { static_cast<void>(FailLocked(member.key, {}, {})); });
  }
  though_observers_throw([&] { GroupDoneLocked(popped.group->root, GroupStatus::kError); });
}

std::optional<PoppedPod> ClassicQueue::Pop(std::optional<Duration> timeout) {
  std::unique_lock lock(mutex_);
  const MonotonicTime deadline = After(SteadyNow(), timeout.value_or(Duration::zero()));
  for (;;) {
    // After Close() queued pods can still be popped.
    if (std::optional<PoppedPod> popped = PopAndTell()) return popped;
    if (closed_) return std::nullopt;
    if (!timeout) {
      poppable_.wait(lock);
    } else if (poppable_.wait_until(lock, deadline) == std::cv_status::timeout) {
      return PopAndTell();
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
      CountIncoming(*entity, Place::kActive, LabelOf(SpecialLabel::kPopFromBackoffQ),
                    /*named=*/Place::kAbsent);
    } else {
      return std::nullopt;
    }
    std::optional<PoppedPod> popped = entity->is_group
                                          ? PopGroup(static_cast<GroupEntity&>(*entity))
                                          : PopPod(static_cast<PodEntity&>(*entity));
    if (popped) return popped;
  }
}

// The pod has left its queue. False: this uid is in flight already, and the entry is discarded.
bool ClassicQueue::BeginAttempt(PodEntity& pod, Place from) {
  pod.fields.Rejectors().ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
  const EventLabel label = LabelOf(SpecialLabel::kPodPopped);
  if (pod.in_flight) {
    TellPodMoved(pod, from, label);
    return false;
  }
  ++pod.fields.attempts;
  pod.in_flight = in_flight_.Begin();
  pod.popped_fields = pod.fields;
  metrics_.AddInFlight(label, 1);
  TellPodMoved(pod, from, label);
  if (!options_.observers.empty()) {
    Tell(
        {.what = Told::What::kPopped, .pod = pod.pod, .move = {}, .attempts = pod.fields.attempts});
  }
  return true;
}

std::optional<PoppedPod> ClassicQueue::PopPod(PodEntity& pod) {
  const Place from = std::exchange(pod.queued, Place::kAbsent);
  if (!BeginAttempt(pod, from)) return std::nullopt;
  return PoppedPod{pod.pod, pod.key, ++scheduling_cycle_, pod.fields};
}

std::optional<PoppedPod> ClassicQueue::PopGroup(GroupEntity& group) {
  const Place from = std::exchange(group.queued, Place::kAbsent);
  SortMembers(&group);
  auto popped = std::make_shared<PoppedGroup>();
  popped->root = group.root;
  const uint64_t cycle = scheduling_cycle_ + 1;
  for (PodEntity* member : std::exchange(group.members, {})) {
    member->group = nullptr;
    if (!BeginAttempt(*member, from)) continue;
    member->group_cycle = cycle;
    popped->members.push_back({member->pod, member->key, cycle, member->fields});
  }
  if (popped->members.empty()) {
    Forget(group);
    return std::nullopt;
  }
  scheduling_cycle_ = cycle;
  group.is_in_cycle = true;
  group.cycle = cycle;
  ++group.fields.attempts;
  PoppedPod entity;
  entity.cycle = cycle;
  entity.fields = group.fields;
  entity.group = std::move(popped);
  return entity;
}

void ClassicQueue::Done(const PodKey& key) {
  std::lock_guard lock(mutex_);
  PodEntity* pod = entities_.Find(key);
  if (pod == nullptr) return;
  EndInFlight(*pod);
  entities_.ReleaseIfGone(pod);
}

void ClassicQueue::EndInFlight(PodEntity& pod) {
  if (!pod.in_flight) return;
  in_flight_.End(*pod.in_flight, [&](EventLabel label) { metrics_.AddInFlight(label, -1); });
  pod.in_flight.reset();
  metrics_.AddInFlight(LabelOf(SpecialLabel::kPodPopped), -1);
}

Status ClassicQueue::Fail(const PodKey& key, PluginSet unschedulable, PluginSet pending) {
  std::lock_guard lock(mutex_);
  Status status = FailLocked(key, unschedulable, pending);
  TellObservers();
  return status;
}

// A hint or PreEnqueue that throws leaves the pod in flight, as it was.
Status ClassicQueue::FailLocked(const PodKey& key, PluginSet unschedulable, PluginSet pending) {
  PodEntity* pod = entities_.Find(key);
  if (pod == nullptr) return Status::Ok();
  Status status;
  if (pod->IsQueued()) {
    status = QueuedAlready(*pod->pod, pod->Queued());
  } else if (pod->live) {
    const QueueingFields fields = pod->fields;
    try {
      if (IsMember(*pod->pod)) {
        ReturnToGroup(*pod, unschedulable, pending);
      } else {
        ReturnToQueue(*pod, unschedulable, pending);
      }
    } catch (...) {
      pod->fields.Rejectors().ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, -1); });
      pod->fields = fields;
      throw;
    }
  }
  EndInFlight(*pod);
  entities_.ReleaseIfGone(pod);
  return status;
}

// What every failure does to a pod's fields; how often it failed is counted by the caller.
void ClassicQueue::SetRejectors(PodEntity& pod, PluginSet unschedulable, PluginSet pending) {
  QueueingFields& fields = pod.fields;
  if (pod.in_flight) fields = pod.popped_fields;
  fields.unschedulable_plugins = unschedulable;
  fields.pending_plugins = pending;
  fields.gating_plugin = kNoPlugin;
  fields.timestamp = options_.clock->Now();
  fields.was_flushed = false;
  fields.Rejectors().ForEach([&](PluginId plugin) { metrics_.AddRejected(plugin, 1); });
}

void ClassicQueue::ReturnToQueue(PodEntity& pod, PluginSet unschedulable, PluginSet pending) {
  const Place from = pod.Shown();
  SetRejectors(pod, unschedulable, pending);
  QueueingFields& fields = pod.fields;
  if (fields.Rejectors().empty()) {
    ++fields.consecutive_errors;
  } else {
    ++fields.unschedulable_count;
    fields.consecutive_errors = 0;
  }
  fields.backoff_expiration.reset();
  fields.flush_timestamp.reset();

  const EventLabel label = LabelOf(SpecialLabel::kScheduleAttemptFailure);
  Requeue(pod, JudgeLoggedEvents(pod), label);
  TellMoved(pod, from, label);
}

// A member's failure is its group's to count, and the log is not judged.
void ClassicQueue::ReturnToGroup(PodEntity& member, PluginSet unschedulable, PluginSet pending) {
  SetRejectors(member, unschedulable, pending);
  Join(member);
}

// The best verdict over the events that were logged since the pop. Never narrowed.
Verdict ClassicQueue::JudgeLoggedEvents(const PodEntity& pod) const {
  const QueueingFields& fields = pod.fields;
  if (fields.Rejectors().empty() || !pod.in_flight) return Verdict::kAfterBackoff;
  const JudgedPod judged = ToJudge(pod, kEveryRegistration);
  // Only a pending plugin can give a better verdict than after-backoff.
  const Verdict best_possible =
      fields.pending_plugins.empty() ? Verdict::kAfterBackoff : Verdict::kImmediately;
  Verdict best = Verdict::kSkip;
  in_flight_.ForEachSince(*pod.in_flight, [&](const LoggedEvent& logged) {
    Verdict verdict = Verdict::kSkip;
    options_.judge->Judge({&judged, 1}, logged.event, logged.change, {&verdict, 1});
    best = std::max(best, verdict);
    return best < best_possible;
  });
  return best;
}

}  // namespace schedq
