// VolumeRestrictions: a claim with the access mode ReadWriteOncePod is mounted by one pod at a
// time, and a node gives a disk that pods name themselves to one pod that writes, or to those that
// read.
//
// Worth another attempt: a node appears; a claim of the pod appears; a pod goes that held one of
// the pod's disks, or a claim of the same name. Upstream asks only about pods of the same
// namespace; a disk may be held from any.
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/volume_hints.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {
namespace {

Hint AfterAssignedPodDelete(const Pod& pod, const ObjectChange& change) {
  const ObjectView* object = change.Latest();
  if (object == nullptr || object->pod == nullptr) return Hint::kError;
  const Pod& gone = *object->pod;
  if (AnyDiskConflicts(pod, gone)) return Hint::kQueue;
  // The access mode stands in the claim, which a hint does not look up.
  const bool shared = pod.namespace_name == gone.namespace_name && ShareClaimName(pod, gone);
  return shared ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

Plugin VolumeRestrictionsPlugin() {
  Plugin plugin;
  plugin.name = "VolumeRestrictions";
  plugin.rejection_message =
      "the pod's PersistentVolumeClaims or disks are missing or in use by other pods";
  plugin.events = {
      {Resource::kAssignedPod, Action::kDelete, AfterAssignedPodDelete, {}},
      {Resource::kNode, Action::kAdd, {}, {}},
      {Resource::kPersistentVolumeClaim, Action::kAdd, AfterVolumeClaimChange, {}},
  };
  return plugin;
}

}  // namespace schedq
