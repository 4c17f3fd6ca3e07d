// Puts an entity back where it was if a plugin throws while it is requeued. Guarded by the engine's
// mutex.
//
// Purpose: PreEnqueue is asked when an entity has left its queue already. An operation that an
// exception ends there has not happened.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/classic/classic_queue.h"
#include "engine/classic/entity.h"
#include "engine/place.h"
#include "engine/queueing_fields.h"

namespace schedq {

class ClassicQueue::Retreat {
 public:
  // The entity is where it is to be put back: in a queue, or in its cycle.
  Retreat(ClassicQueue& queue, Entity& entity);
  Retreat(const Retreat&) = delete;
  Retreat& operator=(const Retreat&) = delete;
  ~Retreat() {
    if (is_needed_) Undo();
  }

  // Nothing has thrown. The entity may be gone.
  void NotNeeded() { is_needed_ = false; }

 private:
  void Undo();
  void UndoGroup(GroupEntity& group);

  ClassicQueue& queue_;
  Entity& entity_;
  const Place place_;
  std::optional<QueueingFields> fields_;  // Of a group.
  // Of a group. Not of one in the pool: nobody is asked when its members change.
  std::vector<PodEntity*> members_;
  bool was_in_cycle_ = false;
  bool is_needed_ = true;
};

}  // namespace schedq
