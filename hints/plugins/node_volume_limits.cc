// NodeVolumeLimits: a node takes as many volumes of a CSI driver as its CSINode says.
//
// Worth another attempt: a CSINode appears, a limit of one grows or ends, a claim of the pod
// appears, or a pod goes that had volumes which a node counts. Upstream does not hear of a limit
// that ends. Left out: VolumeAttachments.
#include <algorithm>
#include <cstdint>
#include <string>

#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_volumes.h"
#include "engine/storage_facts.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/volume_hints.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {
namespace {

Hint AfterAssignedPodDelete(const Pod&, const ObjectChange& change) {
  const ObjectView* object = change.Latest();
  if (object == nullptr || object->pod == nullptr) return Hint::kError;
  const Pod& gone = *object->pod;
  if (gone.node_name.empty() && gone.nominated_node_name.empty()) return Hint::kSkip;
  const PodVolumes& volumes = VolumesOf(gone);
  const bool had_any = !volumes.claims.empty() ||
                       std::any_of(volumes.disks.begin(), volumes.disks.end(),
                                   [](const InlineDisk& disk) { return !DriverOf(disk).empty(); });
  return had_any ? Hint::kQueue : Hint::kSkip;
}

const int64_t* FindLimit(const ResourceList& limits, const std::string& driver) {
  for (const auto& [name, limit] : limits) {
    if (name == driver) return &limit;
  }
  return nullptr;
}

Hint AfterCsiNodeUpdate(const Pod&, const ObjectChange& change) {
  if (change.before == nullptr || change.before->storage == nullptr || change.after == nullptr ||
      change.after->storage == nullptr) {
    return Hint::kError;
  }
  const StorageFacts& old_facts = *change.before->storage;
  const StorageFacts& new_facts = *change.after->storage;
  const ResourceList& before = old_facts.volume_limits;
  const ResourceList& after = new_facts.volume_limits;
  const bool ends = std::any_of(before.begin(), before.end(), [&](const auto& limit) {
    return FindLimit(after, limit.first) == nullptr;
  });
  // Upstream takes a limit that is new for one that grew from 0.
  const bool grows = std::any_of(after.begin(), after.end(), [&](const auto& limit) {
    const int64_t* const old = FindLimit(before, limit.first);
    return limit.second > (old != nullptr ? *old : 0);
  });
  return ends || grows ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

Plugin NodeVolumeLimitsPlugin() {
  Plugin plugin;
  plugin.name = "NodeVolumeLimits";
  plugin.rejection_message = "no node takes as many more volumes as the pod has";
  plugin.events = {
      {Resource::kCSINode, Action::kAdd, {}, {}},
      {Resource::kCSINode, Action::kUpdate, AfterCsiNodeUpdate, {}},
      {Resource::kAssignedPod, Action::kDelete, AfterAssignedPodDelete, {}},
      {Resource::kPersistentVolumeClaim, Action::kAdd, AfterVolumeClaimChange, {}},
  };
  return plugin;
}

}  // namespace schedq
