#include "engine/classic/retreat.h"

#include <utility>

namespace schedq {

ClassicQueue::Retreat::Retreat(ClassicQueue& queue, Entity& entity)
    : queue_(queue), entity_(entity), place_(entity.queued) {
  if (!entity.is_group) return;
  auto& group = static_cast<GroupEntity&>(entity);
  fields_ = group.fields;
  was_in_cycle_ = group.is_in_cycle;
  if (!InPool(place_)) members_ = group.members;
}

void ClassicQueue::Retreat::Undo() {
  if (entity_.queued == place_ && !was_in_cycle_) return;  // It has not left.
  if (entity_.is_group) UndoGroup(static_cast<GroupEntity&>(entity_));
  if (!was_in_cycle_) queue_.PutIn(entity_, place_);
}

void ClassicQueue::Retreat::UndoGroup(GroupEntity& group) {
  group.fields = *fields_;
  if (was_in_cycle_) {
    group.is_in_cycle = true;
    group.pending = std::exchange(group.members, {});
    for (PodEntity* member : group.pending) {
      member->group = nullptr;
      member->queued = Place::kPending;
    }
    return;
  }
  if (InPool(place_)) return;
  for (PodEntity* member : group.members) member->group = nullptr;
  group.members = std::move(members_);
  for (PodEntity* member : group.members) member->group = &group;
}

}  // namespace schedq
