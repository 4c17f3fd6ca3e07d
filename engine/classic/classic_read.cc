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
  QueueCounts counts = {.active = active_.size(),
                        .backoff = backoff_.size(),
                        .error_backoff = error_backoff_.size(),
                        .unschedulable = pool_.size() - gated_,
                        .gated = gated_,
                        .in_flight = in_flight_.pods()};
  for (const auto& [root, group] : groups_) CountGroup(*group, &counts);
  for (const auto& [group, pods] : incomplete_) counts.incomplete += pods.size();
  return counts;
}

// The heaps hold a group as one entity.
void ClassicQueue::CountGroup(const GroupEntity& group, QueueCounts* counts) {
  const uint64_t members = group.members.size();
  counts->pending += group.pending.size();
  if (group.queued == Place::kAbsent) return;
  GroupCounts& grouped = group.queued == Place::kActive ? counts->grouped_active
                         : InPool(group.queued)         ? counts->grouped_gated
                                                        : counts->grouped_error_backoff;
  ++grouped.groups;
  grouped.members += members;
  if (group.queued == Place::kActive) counts->active += members - 1;
  if (group.queued == Place::kErrorBackoff) counts->error_backoff += members - 1;
  if (group.queued == Place::kGated) counts->gated += members;
}

std::vector<PodRef> ClassicQueue::List(Place place) const {
  std::lock_guard lock(mutex_);
  std::vector<PodRef> pods;
  entities_.ForEach([&](const PodEntity& pod) {
    const bool here = place == Place::kInFlight ? pod.in_flight.has_value() : pod.Queued() == place;
    if (here && (place != Place::kAbsent || pod.Shown() == Place::kAbsent)) {
      pods.push_back(pod.pod);
    }
  });
  return pods;
}

PodWhereabouts ClassicQueue::Where(std::string_view pod_name) const {
  std::lock_guard lock(mutex_);
  const std::optional<PodId> id = options_.pod_names->Find(pod_name);
  if (!id) return {};
  // The newest incarnation is the only one that can be queued; an older one may be in flight.
  const PodEntity* newest = entities_.Newest(*id);
  for (const PodEntity* pod = newest; pod != nullptr; pod = pod->older) {
    if (pod->Shown() == Place::kAbsent) continue;
    PodWhereabouts where = {pod->Shown(), pod->pod, pod->live, pod->fields};
    if (pod->group != nullptr) {
      where.fields.backoff_expiration = pod->group->fields.backoff_expiration;
      where.fields.gating_plugin = pod->group->fields.gating_plugin;
    }
    return where;
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
