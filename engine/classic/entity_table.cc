#include "engine/classic/entity_table.h"

#include "engine/pod.h"
#include "engine/pod_key.h"

namespace schedq {

EntityTable::~EntityTable() {
  for (const auto& [id, newest] : newest_) {
    for (PodEntity* entity = newest; entity != nullptr;) {
      PodEntity* older = entity->older;
      delete entity;
      names_->Release(id);
      entity = older;
    }
  }
}

PodEntity* EntityTable::Newest(PodId id) const {
  const auto found = newest_.find(id);
  return found == newest_.end() ? nullptr : found->second;
}

PodEntity* EntityTable::Find(const PodKey& key) const {
  PodEntity* entity = Newest(key.id);
  while (entity != nullptr && entity->key != key) entity = entity->older;
  return entity;
}

PodEntity* EntityTable::FindOrCreate(const PodRef& pod) {
  const PodKey key{names_->Acquire(pod->namespace_name, pod->name), UidFingerprint(pod->uid)};
  if (key.id == kNoPod) return nullptr;
  PodEntity*& newest = newest_[key.id];
  for (PodEntity** link = &newest; *link != nullptr; link = &(*link)->older) {
    PodEntity* entity = *link;
    if (entity->key != key) continue;
    names_->Release(key.id);  // The entity holds a reference already.
    // An incarnation that comes back after another one is the newest again.
    *link = entity->older;
    entity->older = newest;
    newest = entity;
    return entity;
  }
  auto* entity = new PodEntity;
  entity->pod = pod;
  entity->key = key;
  entity->older = newest;
  newest = entity;
  return entity;
}

void EntityTable::ReleaseIfGone(PodEntity* entity) {
  if (entity->live || entity->Shown() != Place::kAbsent) return;
  const PodId id = entity->key.id;
  const auto found = newest_.find(id);
  PodEntity** link = &found->second;
  while (*link != entity) link = &(*link)->older;
  *link = entity->older;
  if (found->second == nullptr) newest_.erase(found);
  delete entity;
  names_->Release(id);
}

}  // namespace schedq
