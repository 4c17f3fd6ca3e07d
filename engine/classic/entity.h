// The classic engine's records: of one incarnation of a pod, and of a group. Guarded by the
// engine's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "engine/classic/in_flight_log.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queueing_fields.h"

namespace schedq {

inline constexpr size_t kNotInHeap = ~size_t{0};

// What stands in a queue: a pod, or a group.
struct Entity {
  QueueingFields fields;
  // A place of a queue or kAbsent. A member is where its group is, unless it is incomplete or
  // pending.
  Place queued = Place::kAbsent;
  const bool is_group = false;
  size_t heap_position = kNotInHeap;
  // The priority that it is sorted by: that of the pod's version when it entered its queue or was
  // updated there, or that of the group's object. An update does not sort a pod again that is in
  // flight too.
  int32_t sorted_priority = 0;

 protected:
  explicit Entity(bool is_a_group) : is_group(is_a_group) {}
  ~Entity() = default;
};

struct GroupEntity;

// Invariants:
//  1. A record exists while its pod is live, queued or in flight.
//  2. `in_flight` says whether the pod is in flight, because a pod that was deleted and added anew
//     under its uid is both queued and in flight.
struct PodEntity final : Entity {
  PodEntity() : Entity(false) {}

  PodRef pod;  // The newest version that the queue was told of.
  PodKey key;
  bool live = false;
  std::optional<InFlightLog::Position> in_flight;
  // The fields as they were when the pod was popped: Fail continues from them.
  QueueingFields popped_fields;
  // An older incarnation under the same name that is still in flight.
  PodEntity* older = nullptr;
  uint64_t group_cycle = 0;  // The scheduling cycle in which it was last popped with its group.
  // The queued group that it is in; null: none. Then `queued` is kAbsent.
  GroupEntity* group = nullptr;

  Place Queued() const;
  bool IsQueued() const { return Queued() != Place::kAbsent; }
  Place Shown() const {
    const Place place = Queued();
    if (place != Place::kAbsent) return place;
    return in_flight ? Place::kInFlight : Place::kAbsent;
  }
};

// All queued members under one root. Its fields have no rejectors.
// Invariant: it is queued and has members, or it is in its cycle.
struct GroupEntity final : Entity {
  GroupEntity() : Entity(true) {}

  GroupKey root;
  std::vector<PodEntity*> members;
  bool is_in_cycle = false;         // It was popped, and GroupDone is still to come.
  uint64_t cycle = 0;               // The scheduling cycle of its last pop.
  std::vector<PodEntity*> pending;  // In its cycle: those that wait for its end.
};

inline Place PodEntity::Queued() const { return group != nullptr ? group->queued : queued; }

// As the judge is asked about it.
inline JudgedPod ToJudge(const PodEntity& pod, RegistrationMask asked) {
  return {.pod = pod.pod.get(),
          .id = pod.key.id,
          .unschedulable = pod.fields.unschedulable_plugins,
          .pending = pod.fields.pending_plugins,
          .asked = asked};
}

// Calls `visit(PodEntity&)` for each pod of the entity.
template <typename Visit>
void ForEachPod(Entity& entity, Visit visit) {
  if (!entity.is_group) {
    visit(static_cast<PodEntity&>(entity));
    return;
  }
  for (PodEntity* member : static_cast<GroupEntity&>(entity).members) visit(*member);
}

}  // namespace schedq
