// The read side.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/classic/classic_queue.h"
#include "engine/classic/entity.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"

namespace schedq {

PodKey ClassicQueue::KeyOf(const Pod& pod) const { return FindKey(pod); }

PodKey ClassicQueue::FindKey(const Pod& pod) const {
  const std::optional<PodId> id = options_.pod_names->Find(pod.namespace_name, pod.name);
  if (!id) return {};
  return {*id, UidFingerprint(pod.uid)};
}

QueueCounts ClassicQueue::Counts() const {
  std::lock_guard lock(mutex_);
  return {.active = active_.size(),
          .backoff = backoff_.size(),
          .error_backoff = error_backoff_.size(),
          .unschedulable = pool_.size() - gated_,
          .gated = gated_,
          .in_flight = in_flight_.pods()};
}

std::vector<PodRef> ClassicQueue::List(Place place) const {
  std::lock_guard lock(mutex_);
  std::vector<PodRef> pods;
  entities_.ForEach([&](const Entity& entity) {
    const bool here =
        place == Place::kInFlight ? entity.in_flight.has_value() : entity.queued == place;
    if (here && (place != Place::kAbsent || entity.Shown() == Place::kAbsent)) {
      pods.push_back(entity.pod);
    }
  });
  return pods;
}

PodWhereabouts ClassicQueue::Where(std::string_view pod_name) const {
  std::lock_guard lock(mutex_);
  const std::optional<PodId> id = options_.pod_names->Find(pod_name);
  if (!id) return {};
  // The newest incarnation is the only one that can be queued; an older one may be in flight.
  const Entity* newest = entities_.Newest(*id);
  for (const Entity* entity = newest; entity != nullptr; entity = entity->older) {
    if (entity->Shown() == Place::kAbsent) continue;
    return {entity->Shown(), entity->pod, entity->live, entity->fields};
  }
  if (newest == nullptr) return {};
  return {Place::kAbsent, newest->pod, newest->live, newest->fields};
}

std::vector<PodRef> ClassicQueue::NominatedPods(std::string_view node) const {
  std::lock_guard lock(mutex_);
  std::vector<PodRef> pods;
  for (const PodKey& key : nominator_.PodsOn(node)) pods.push_back(entities_.Find(key)->pod);
  return pods;
}

std::string ClassicQueue::NominatedNode(const PodKey& pod) const {
  std::lock_guard lock(mutex_);
  return std::string(nominator_.NodeOf(pod));
}

uint64_t ClassicQueue::SchedulingCycle() const {
  std::lock_guard lock(mutex_);
  return scheduling_cycle_;
}

uint64_t ClassicQueue::LoggedEvents() const {
  std::lock_guard lock(mutex_);
  return in_flight_.events();
}

}  // namespace schedq
