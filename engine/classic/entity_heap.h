// A binary heap of entities in which each entity knows its position. An entity is therefore found,
// removed, or moved after a change of its key without a search. Guarded by the engine's mutex.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/classic/entity.h"

namespace schedq {

// `Before(const Entity&, const Entity&)` is a strict order. An entity is in one heap at most.
template <typename Before>
class EntityHeap {
 public:
  explicit EntityHeap(Before before = Before()) : before_(std::move(before)) {}

  bool empty() const { return slots_.empty(); }
  size_t size() const { return slots_.size(); }
  Entity* Top() const { return slots_.front(); }
  const std::vector<Entity*>& entities() const { return slots_; }

  void Push(Entity* entity) {
    SCHEDQ_CHECK(entity->heap_position == kNotInHeap, "an entity is in one heap at most");
    slots_.push_back(entity);
    Rise(slots_.size() - 1, entity);
  }

  Entity* Pop() {
    Entity* top = slots_.front();
    Remove(top);
    return top;
  }

  void Remove(Entity* entity) {
    const size_t hole = entity->heap_position;
    SCHEDQ_CHECK(hole < slots_.size() && slots_[hole] == entity, "the entity is in this heap");
    entity->heap_position = kNotInHeap;
    Entity* last = slots_.back();
    slots_.pop_back();
    if (last != entity) Place(hole, last);
  }

  // The entity's key changed.
  void Resort(Entity* entity) { Place(entity->heap_position, entity); }

 private:
  void Set(size_t position, Entity* entity) {
    slots_[position] = entity;
    entity->heap_position = position;
  }

  void Place(size_t position, Entity* entity) {
    if (position > 0 && before_(*entity, *slots_[(position - 1) / 2])) {
      Rise(position, entity);
    } else {
      Sink(position, entity);
    }
  }

  void Rise(size_t position, Entity* entity) {
    while (position > 0) {
      const size_t parent = (position - 1) / 2;
      if (!before_(*entity, *slots_[parent])) break;
      Set(position, slots_[parent]);
      position = parent;
    }
    Set(position, entity);
  }

  void Sink(size_t position, Entity* entity) {
    for (;;) {
      size_t child = 2 * position + 1;
      if (child >= slots_.size()) break;
      if (child + 1 < slots_.size() && before_(*slots_[child + 1], *slots_[child])) ++child;
      if (!before_(*slots_[child], *entity)) break;
      Set(position, slots_[child]);
      position = child;
    }
    Set(position, entity);
  }

  Before before_;
  std::vector<Entity*> slots_;
};

}  // namespace schedq
