// Events, and what depends on time: which pods an event concerns, and the two flushes.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/classic/classic_queue.h"
#include "engine/classic/entity.h"
#include "engine/classic/retreat.h"
#include "engine/event.h"
#include "engine/narrowing.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queueing_fields.h"

namespace schedq {

void ClassicQueue::Event(const ClusterEvent& event, const ObjectChange& change,
                         const PreCheck& pre_check) {
  const auto started = std::chrono::steady_clock::now();
  std::lock_guard lock(mutex_);
  if (!event.IsWildcard() && options_.judge->RegisteredFor(event).empty()) return;
  CollectCandidates(event, change, pre_check);
  JudgeAndRequeue(event, change);
  LogIfAnyInFlight(event, change);
  TellObservers();
  metrics_.ObserveEventHandling(event.label, std::chrono::steady_clock::now() - started);
}

void ClassicQueue::LogIfAnyInFlight(const ClusterEvent& event, const ObjectChange& change) {
  if (!in_flight_.AnyPod()) return;
  in_flight_.Append({event, change});
  metrics_.AddInFlight(event.label, 1);
}

void ClassicQueue::CollectCandidates(const ClusterEvent& event, const ObjectChange& change,
                                     const PreCheck& pre_check) {
  const PluginSet registered = options_.judge->RegisteredFor(event);
  narrowing_.Clear();
  ClearCandidates();
  const bool narrows = IsNarrowed(options_.gates, event, change);
  if (narrows) {
    options_.judge->Narrow(event, change, &narrowing_);
  } else {
    narrowing_.asked_of_all = kEveryRegistration;
    narrowing_.plugins_of_all = registered;
  }

  if (narrows && narrowing_.asked_of_all == 0) {
    for (const auto& [id, asked] : narrowing_.pods) {
      const auto found = pool_.find(id);
      if (found != pool_.end()) {
        AddCandidate(*found->second, asked, event, registered, pre_check);
      }
    }
    if (!pooled_groups_.empty()) CollectGroups(event, registered, pre_check, ListedPods());
    return;
  }
  const Listed listed = ListedPods();
  for (const auto& [id, pod] : pool_) {
    AddCandidate(*pod, AskedOf(id, listed), event, registered, pre_check);
  }
  CollectGroups(event, registered, pre_check, listed);
}

auto ClassicQueue::ListedPods() const -> Listed {
  Listed listed;
  for (const auto& [id, asked] : narrowing_.pods) listed[id] |= asked;
  return listed;
}

RegistrationMask ClassicQueue::AskedOf(PodId id, const Listed& listed) const {
  const auto found = listed.empty() ? listed.end() : listed.find(id);
  const RegistrationMask own = found == listed.end() ? 0 : found->second;
  return narrowing_.asked_of_all | own;
}

// A member is narrowed as a pod is. A group with a member without rejectors is worth any event, and
// is judged as if nothing were narrowed.
void ClassicQueue::CollectGroups(const ClusterEvent& event, PluginSet registered,
                                 const PreCheck& pre_check, const Listed& listed) {
  for (GroupEntity* group : pooled_groups_) {
    const size_t first = judged_.size();
    AddCandidate(*group, kEveryRegistration, event, registered, pre_check);
    const bool is_worth_any = std::any_of(
        judged_.begin() + static_cast<ptrdiff_t>(first), judged_.end(),
        [](const JudgedPod& each) { return (each.unschedulable | each.pending).empty(); });
    for (size_t i = is_worth_any ? judged_.size() : first; i < judged_.size(); ++i) {
      judged_[i].asked = AskedOf(judged_[i].id, listed);
    }
  }
}

void ClassicQueue::AddCandidate(Entity& entity, RegistrationMask asked, const ClusterEvent& event,
                                PluginSet registered, const PreCheck& pre_check) {
  // An event that the gating plugin did not register for cannot end the gating.
  if (entity.queued == Place::kGated && !event.IsWildcard() &&
      !registered.Has(entity.fields.gating_plugin)) {
    return;
  }
  bool passes = !pre_check;
  if (pre_check) {
    ForEachPod(entity, [&](const PodEntity& pod) { passes = passes || pre_check(*pod.pod); });
  }
  if (!passes) return;
  const size_t first = judged_.size();
  ForEachPod(entity, [&](const PodEntity& pod) { judged_.push_back(ToJudge(pod, asked)); });
  candidates_.push_back({&entity, first, judged_.size() - first});
}

// Judges candidates_ and requeues those worth it; leaves the lists empty for the next event.
void ClassicQueue::JudgeAndRequeue(const ClusterEvent& event, const ObjectChange& change) {
  verdicts_.assign(judged_.size(), Verdict::kSkip);
  options_.judge->Judge(judged_, event, change, verdicts_);
  for (const auto& [entity, first, pods] : candidates_) {
    const auto begin = verdicts_.begin() + first;
    const Verdict best = *std::max_element(begin, begin + pods);
    if (best == Verdict::kSkip) continue;
    const Place from = entity->queued;
    Retreat retreat(*this, *entity);
    RemoveFromPool(*entity);
    Requeue(*entity, best, event.label);
    retreat.NotNeeded();
    TellMoved(*entity, from, event.label);
  }
  ClearCandidates();
}

// Also at the beginning: a hint that has thrown left them as they were.
void ClassicQueue::ClearCandidates() {
  candidates_.clear();
  judged_.clear();
}

void ClassicQueue::FlushBackoff() {
  std::lock_guard lock(mutex_);
  Flush(backoff_);
  Flush(error_backoff_);
  TellObservers();
}

void ClassicQueue::Flush(Backoff& backoff) {
  const EventLabel label = LabelOf(SpecialLabel::kBackoffComplete);
  while (!backoff.empty() && !IsBackingOff(*backoff.Top())) {
    Entity& entity = *backoff.Top();
    const Place from = entity.queued;
    Retreat retreat(*this, entity);
    RemoveFromQueue(entity);
    MoveToActive(entity, label, options_.gates.PopFromBackoffQ());
    retreat.NotNeeded();
    TellMoved(entity, from, label);
  }
}

void ClassicQueue::FlushUnschedulable() {
  std::lock_guard lock(mutex_);
  const Instant now = options_.clock->Now();
  std::vector<Entity*> due;
  const auto add_if_due = [&](Entity& entity) {
    const QueueingFields& fields = entity.fields;
    const Instant since =
        std::max(fields.timestamp, fields.flush_timestamp.value_or(Instant::min()));
    if (now - since > options_.max_in_unschedulable) due.push_back(&entity);
  };
  for (const auto& [id, pod] : pool_) add_if_due(*pod);
  for (GroupEntity* group : pooled_groups_) add_if_due(*group);
  if (due.empty()) return;
  for (Entity* entity : due) Rescue(*entity, now);
  LogIfAnyInFlight(UnschedulableTimeoutEvent(), {});
  TellObservers();
}

// If a plugin throws the entity is not marked.
void ClassicQueue::Rescue(Entity& entity, Instant now) {
  const MaybeInstant flushed = std::exchange(entity.fields.flush_timestamp, MaybeInstant(now));
  std::vector<bool> marks;
  ForEachPod(entity,
             [&](PodEntity& pod) { marks.push_back(std::exchange(pod.fields.was_flushed, true)); });
  ClearCandidates();
  const ClusterEvent timeout = UnschedulableTimeoutEvent();
  AddCandidate(entity, kEveryRegistration, timeout, PluginSet(), PreCheck());
  try {
    JudgeAndRequeue(timeout, {});
  } catch (...) {
    entity.fields.flush_timestamp = flushed;
    auto mark = marks.begin();
    ForEachPod(entity, [&](PodEntity& pod) { pod.fields.was_flushed = *mark++; });
    throw;
  }
}

void ClassicQueue::Run() {
  tickers_.Start(options_.gates.PopFromBackoffQ(),
                 {[this] { FlushBackoff(); }, [this] { FlushUnschedulable(); }});
}

void ClassicQueue::Close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    std::vector<PodEntity*> in_flight;
    entities_.ForEach([&](PodEntity& pod) {
      if (pod.in_flight) in_flight.push_back(&pod);
    });
    for (PodEntity* pod : in_flight) {
      EndInFlight(*pod);
      entities_.ReleaseIfGone(pod);
    }
    poppable_.notify_all();
  }
  // Outside the mutex: a tick that runs takes it.
  tickers_.Stop();
}

}  // namespace schedq
