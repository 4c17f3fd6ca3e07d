// The objects of storage that the API server holds: volumes, claims, storage classes, CSINodes.
//
// Purpose: a part of the cluster (cluster.h), which creates and deletes objects of all kinds by one
// name. Schedulers and controllers update volumes and claims here.
// Threads: one, the one that advances the clock.
// Invariant: each change is told once, with the version before and the one after.
// Memory: the live objects.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/cluster/volume_index.h"
#include "engine/event.h"
#include "engine/object.h"

namespace schedq {

class Storage {
 public:
  using Emit = std::function<void(Resource, Action, ObjectRef before, ObjectRef after)>;
  template <typename Object>
  using ByName = std::map<std::string, std::shared_ptr<const Object>>;

  // `pods_created` says how many pods there have been by now.
  Storage(Emit emit, std::function<uint64_t()> pods_created)
      : emit_(std::move(emit)), pods_created_(std::move(pods_created)) {}

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
  const VolumeIndex& volume_index() const { return volume_index_; }
  const ByName<ClusterVolumeClaim>& claims() const { return claims_; }

  // False: there is no such object.
  bool UpdateVolume(const std::string& name, const std::function<void(ClusterVolume*)>& change);
  bool UpdateClaim(const std::string& name, const std::function<void(ClusterVolumeClaim*)>& change);
  bool UpdateCsiNode(const std::string& name, const std::function<void(CsiNodeObject*)>& change);

 private:
  template <typename Object>
  void Index(const Object* before, const std::shared_ptr<const Object>& after);
  template <typename Object>
  void Add(ByName<Object>* objects, const std::string& name, std::shared_ptr<Object> object);
  template <typename Object>
  bool Remove(ByName<Object>* objects, const std::string& name);
  template <typename Object>
  bool Update(ByName<Object>* objects, const std::string& name,
              const std::function<void(Object*)>& change);

  const Emit emit_;
  const std::function<uint64_t()> pods_created_;
  ByName<ClusterVolume> volumes_;
  VolumeIndex volume_index_;
  ByName<ClusterVolumeClaim> claims_;
  ByName<ClusterStorageClass> classes_;
  ByName<ClusterCsiNode> csi_nodes_;
};

}  // namespace schedq
