#include "bench/sim/cluster/storage.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "engine/label_selector.h"
#include "engine/pod.h"
#include "engine/storage_facts.h"

namespace schedq {
namespace {

template <typename Object>
std::shared_ptr<Object> MakeObject(Resource resource, const ApiObject& object,
                                   const std::string& namespace_name, const std::string& name) {
  auto made = std::make_shared<Object>();
  made->resource = resource;
  made->namespace_name = namespace_name;
  made->name = name;
  made->labels = object.metadata.labels;
  return made;
}

StorageFactsRef FactsOf(const StorageClassObject& spec) {
  auto facts = std::make_shared<StorageFacts>();
  facts->waits_for_consumer = spec.waits_for_consumer;
  facts->allowed_topologies = spec.allowed_topologies;
  return facts;
}

StorageFactsRef FactsOf(const CsiNodeObject& spec) {
  auto facts = std::make_shared<StorageFacts>();
  facts->volume_limits = spec.limits;
  facts->migrated_plugins = spec.migrated_plugins;
  return facts;
}

template <typename Object>
std::shared_ptr<const Object> FindIn(const Storage::ByName<Object>& objects,
                                     const std::string& name) {
  const auto found = objects.find(name);
  return found == objects.end() ? nullptr : found->second;
}

// A limit of `after` is lower than before, or was none.
bool IsLowered(const ResourceList& before, const ResourceList& after) {
  return std::any_of(after.begin(), after.end(), [&](const auto& limit) {
    return std::none_of(before.begin(), before.end(), [&](const auto& old) {
      return old.first == limit.first && old.second <= limit.second;
    });
  });
}

}  // namespace

// Other objects have no index.
template <typename Object>
void Storage::Index(const Object* before, const std::shared_ptr<const Object>& after) {
  if constexpr (std::is_same_v<Object, ClusterVolume>) {
    if (before != nullptr) volume_index_.Remove(*before);
    if (after != nullptr) volume_index_.Add(after);
  }
}

template <typename Object>
void Storage::Add(ByName<Object>* objects, const std::string& name,
                  std::shared_ptr<Object> object) {
  (*objects)[name] = object;
  Index<Object>(nullptr, object);
  const Resource resource = object->resource;
  emit_(resource, Action::kAdd, nullptr, std::move(object));
}

template <typename Object>
bool Storage::Remove(ByName<Object>* objects, const std::string& name) {
  auto gone = objects->extract(name);
  if (gone.empty()) return false;
  Index<Object>(gone.mapped().get(), nullptr);
  const Resource resource = gone.mapped()->resource;
  emit_(resource, Action::kDelete, std::move(gone.mapped()), nullptr);
  return true;
}

template <typename Object>
bool Storage::Update(ByName<Object>* objects, const std::string& name,
                     const std::function<void(Object*)>& change) {
  const auto found = objects->find(name);
  if (found == objects->end()) return false;
  const std::shared_ptr<const Object> before = found->second;
  auto after = std::make_shared<Object>(*before);
  change(after.get());
  found->second = after;
  Index<Object>(before.get(), after);
  emit_(before->resource, Action::kUpdate, before, std::move(after));
  return true;
}

bool Storage::Create(const ApiObject& object, const std::string& namespace_name,
                     const std::string& name) {
  if (const auto* volume = std::get_if<PersistentVolumeObject>(&object.body)) {
    auto made = MakeObject<ClusterVolume>(Resource::kPersistentVolume, object, "", name);
    made->spec = *volume;
    Add(&volumes_, name, std::move(made));
  } else if (const auto* claim = std::get_if<PersistentVolumeClaimObject>(&object.body)) {
    auto made = MakeObject<ClusterVolumeClaim>(Resource::kPersistentVolumeClaim, object,
                                               namespace_name, name);
    made->spec = *claim;
    const Labels& annotations = object.metadata.annotations;
    made->is_bound =
        !claim->volume_name.empty() && FindLabel(annotations, kBindCompleted) != nullptr;
    made->selected_node = LabelValue(annotations, kSelectedNode);
    Add(&claims_, QualifiedName(namespace_name, name), std::move(made));
  } else if (const auto* storage_class = std::get_if<StorageClassObject>(&object.body)) {
    auto made = MakeObject<ClusterStorageClass>(Resource::kStorageClass, object, "", name);
    made->spec = *storage_class;
    made->storage = FactsOf(made->spec);
    Add(&classes_, name, std::move(made));
  } else if (const auto* csi_node = std::get_if<CsiNodeObject>(&object.body)) {
    auto made = MakeObject<ClusterCsiNode>(Resource::kCSINode, object, "", name);
    made->spec = *csi_node;
    made->storage = FactsOf(made->spec);
    made->pods_before_limits = pods_created_();
    Add(&csi_nodes_, name, std::move(made));
  } else {
    return false;
  }
  return true;
}

bool Storage::Delete(const std::string& kind, const std::string& name) {
  if (kind == "PersistentVolume") return Remove(&volumes_, name);
  if (kind == "PersistentVolumeClaim") return Remove(&claims_, name);
  if (kind == "StorageClass") return Remove(&classes_, name);
  return kind == "CSINode" && Remove(&csi_nodes_, name);
}

ClusterVolumeRef Storage::FindVolume(const std::string& name) const {
  return FindIn(volumes_, name);
}
ClusterVolumeClaimRef Storage::FindClaim(const std::string& name) const {
  return FindIn(claims_, name);
}
ClusterStorageClassRef Storage::FindClass(const std::string& name) const {
  return FindIn(classes_, name);
}
ClusterCsiNodeRef Storage::FindCsiNode(const std::string& name) const {
  return FindIn(csi_nodes_, name);
}

bool Storage::UpdateVolume(const std::string& name,
                           const std::function<void(ClusterVolume*)>& change) {
  return Update(&volumes_, name, change);
}

bool Storage::UpdateClaim(const std::string& name,
                          const std::function<void(ClusterVolumeClaim*)>& change) {
  return Update(&claims_, name, change);
}

bool Storage::UpdateCsiNode(const std::string& name,
                            const std::function<void(CsiNodeObject*)>& change) {
  return Update<ClusterCsiNode>(&csi_nodes_, name, [&](ClusterCsiNode* node) {
    const ResourceList before = node->spec.limits;
    change(&node->spec);
    if (IsLowered(before, node->spec.limits)) node->pods_before_limits = pods_created_();
    node->storage = FactsOf(node->spec);
  });
}

}  // namespace schedq
