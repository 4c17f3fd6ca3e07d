// The objects of storage that the API server holds: volumes, claims, storage classes, CSINodes.
//
// Purpose: a part of the cluster (cluster.h), which creates and deletes objects of all kinds by one
// name. Schedulers and controllers update volumes and claims here.
// Threads: one, the one that advances the clock.
// Invariant: each change is told once, with the version before and the one after.
// Memory: the live objects.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/storage_objects.h"
#include "engine/event.h"
#include "engine/object.h"

namespace schedq {

struct ClusterVolume final : ObjectView {
  PersistentVolumeObject spec;
};
using ClusterVolumeRef = std::shared_ptr<const ClusterVolume>;

struct ClusterVolumeClaim final : ObjectView {
  PersistentVolumeClaimObject spec;
  bool is_bound = false;      // To the volume that it names, which a controller has confirmed.
  std::string selected_node;  // A volume is to be made that this node reaches.
};
using ClusterVolumeClaimRef = std::shared_ptr<const ClusterVolumeClaim>;

struct ClusterStorageClass final : ObjectView {
  StorageClassObject spec;
};
using ClusterStorageClassRef = std::shared_ptr<const ClusterStorageClass>;

struct ClusterCsiNode final : ObjectView {
  CsiNodeObject spec;
  bool was_lowered = false;  // A limit is lower, or new, since it was created.
};
using ClusterCsiNodeRef = std::shared_ptr<const ClusterCsiNode>;

class Storage {
 public:
  using Emit = std::function<void(Resource, Action, ObjectRef before, ObjectRef after)>;
  template <typename Object>
  using ByName = std::map<std::string, std::shared_ptr<const Object>>;

  explicit Storage(Emit emit) : emit_(std::move(emit)) {}

  // An object that the cluster has named. False: it is no object of storage.
  bool Create(const ApiObject& object, const std::string& namespace_name, const std::string& name);
  // `name` is "namespace/name" of a claim. False: there is no such object of storage.
  bool Delete(const std::string& kind, const std::string& name);

  // Volumes, classes and CSINodes by name, claims by "namespace/name". Null: there is none.
  ClusterVolumeRef FindVolume(const std::string& name) const;
  ClusterVolumeClaimRef FindClaim(const std::string& name) const;
  ClusterStorageClassRef FindClass(const std::string& name) const;
  ClusterCsiNodeRef FindCsiNode(const std::string& name) const;
  const ByName<ClusterVolume>& volumes() const { return volumes_; }
  const ByName<ClusterVolumeClaim>& claims() const { return claims_; }

  // False: there is no such object.
  bool UpdateVolume(const std::string& name, const std::function<void(ClusterVolume*)>& change);
  bool UpdateClaim(const std::string& name, const std::function<void(ClusterVolumeClaim*)>& change);
  bool UpdateCsiNode(const std::string& name, const std::function<void(CsiNodeObject*)>& change);

 private:
  template <typename Object>
  void Add(ByName<Object>* objects, const std::string& name, std::shared_ptr<Object> object);
  template <typename Object>
  bool Remove(ByName<Object>* objects, const std::string& name);
  template <typename Object>
  bool Update(ByName<Object>* objects, const std::string& name,
              const std::function<void(Object*)>& change);

  const Emit emit_;
  ByName<ClusterVolume> volumes_;
  ByName<ClusterVolumeClaim> claims_;
  ByName<ClusterStorageClass> classes_;
  ByName<ClusterCsiNode> csi_nodes_;
};

// Whether the volume could be bound to the claim: it is large enough, of the claim's class and
// mode, allows its ways of access, and its labels are selected. Not whether it is available.
bool Suits(const ClusterVolume& volume, const ClusterVolumeClaim& claim);

// Whether volumes are made for claims of the class.
bool MakesVolumes(const StorageClassObject& storage_class);

// Whether one pod at a time may mount it.
bool IsForOnePod(const ClusterVolumeClaim& claim);

}  // namespace schedq
