// All entities of the classic engine, by name and incarnation. Guarded by the engine's mutex.
//
// Memory bound: one entity for each pod that is live, queued or in flight, each holding one
// reference to its interned name.
#pragma once

#include <folly/container/F14Map.h>

#include <memory>

#include "engine/base/names/interner.h"
#include "engine/classic/entity.h"
#include "engine/pod.h"
#include "engine/pod_key.h"

namespace schedq {

class EntityTable {
 public:
  explicit EntityTable(Interner* names) : names_(names) {}
  ~EntityTable();
  EntityTable(const EntityTable&) = delete;
  EntityTable& operator=(const EntityTable&) = delete;

  // The incarnation of this name that the queue was told of last; null: none.
  PodEntity* Newest(PodId id) const;
  PodEntity* Find(const PodKey& key) const;

  // Finds this incarnation, or creates it as the newest one of its name. Null: there is no room for
  // the name.
  PodEntity* FindOrCreate(const PodRef& pod);

  // Frees the entity if it is neither live nor queued nor in flight.
  void ReleaseIfGone(PodEntity* entity);

  // Calls `visit(PodEntity&)` for each entity.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [id, newest] : newest_) {
      for (PodEntity* entity = newest; entity != nullptr; entity = entity->older) visit(*entity);
    }
  }

 private:
  Interner* names_;
  // Owns the entities, as chains through PodEntity::older. A chain is longer than one only while an
  // incarnation that was replaced is still in flight.
  folly::F14FastMap<PodId, PodEntity*> newest_;
};

}  // namespace schedq
