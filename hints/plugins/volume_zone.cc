// VolumeZone: a pod goes only to nodes in the zones and regions of its volumes.
//
// Worth another attempt: a claim of the pod appears or changes; a volume appears, or is in other
// zones; a storage class appears whose claims wait for a pod; a node comes or changes its labels.
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/storage_facts.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/volume_hints.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {
namespace {

Hint AfterVolumeChange(const Pod&, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  if (change.before == nullptr) return Hint::kQueue;
  const bool same = ZonesOf(change.before->labels) == ZonesOf(change.after->labels);
  return same ? Hint::kSkip : Hint::kQueue;
}

Hint AfterStorageClassAdd(const Pod&, const ObjectChange& change) {
  if (change.after == nullptr || change.after->storage == nullptr) return Hint::kError;
  const StorageFacts& added = *change.after->storage;
  return added.waits_for_consumer ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

Plugin VolumeZonePlugin() {
  Plugin plugin;
  plugin.name = "VolumeZone";
  plugin.rejection_message = "no node is in the zones of the pod's volumes";
  plugin.events = {
      {Resource::kStorageClass, Action::kAdd, AfterStorageClassAdd, {}},
      {Resource::kNode, Action::kAdd | Action::kUpdateNodeLabel, {}, {}},
      {Resource::kPersistentVolumeClaim,
       Action::kAdd | Action::kUpdate,
       AfterVolumeClaimChange,
       {}},
      {Resource::kPersistentVolume, Action::kAdd | Action::kUpdate, AfterVolumeChange, {}},
  };
  return plugin;
}

}  // namespace schedq
