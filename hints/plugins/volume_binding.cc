// VolumeBinding: each claim of a pod is bound to a volume that the node reaches, or can be bound
// there: to a volume that waits for a claim, or to one that is made for it.
//
// Worth another attempt: a claim of the pod appears or changes; a volume appears or changes; a
// storage class appears, or allows other places; a node comes or changes its labels; a CSINode
// appears, or other plugins are migrated there. Left out: CSIDrivers and the capacity of storage.
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/storage_facts.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/volume_hints.h"

namespace schedq {
namespace {

Hint AfterStorageClassChange(const Pod&, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  if (change.before == nullptr) return Hint::kQueue;
  if (change.before->storage == nullptr || change.after->storage == nullptr) return Hint::kError;
  const StorageFacts& before = *change.before->storage;
  const StorageFacts& after = *change.after->storage;
  return before.allowed_topologies == after.allowed_topologies ? Hint::kSkip : Hint::kQueue;
}

Hint AfterCsiNodeChange(const Pod&, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  if (change.before == nullptr) return Hint::kQueue;
  if (change.before->storage == nullptr || change.after->storage == nullptr) return Hint::kError;
  const StorageFacts& before = *change.before->storage;
  const StorageFacts& after = *change.after->storage;
  return before.migrated_plugins == after.migrated_plugins ? Hint::kSkip : Hint::kQueue;
}

}  // namespace

Plugin VolumeBindingPlugin() {
  Plugin plugin;
  plugin.name = "VolumeBinding";
  plugin.rejection_message =
      "no node reaches the volumes of the pod's PersistentVolumeClaims, or claims are not bound";
  plugin.events = {
      {Resource::kStorageClass, Action::kAdd | Action::kUpdate, AfterStorageClassChange, {}},
      {Resource::kPersistentVolumeClaim,
       Action::kAdd | Action::kUpdate,
       AfterVolumeClaimChange,
       {}},
      {Resource::kPersistentVolume, Action::kAdd | Action::kUpdate, {}, {}},
      {Resource::kNode, Action::kAdd | Action::kUpdateNodeLabel, {}, {}},
      {Resource::kCSINode, Action::kAdd | Action::kUpdate, AfterCsiNodeChange, {}},
  };
  return plugin;
}

}  // namespace schedq
