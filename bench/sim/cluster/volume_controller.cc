#include "bench/sim/cluster/volume_controller.h"

#include <deque>
#include <utility>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/storage_objects.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {
namespace {

std::string NameOf(const ClusterVolumeClaim& claim) {
  return QualifiedName(claim.namespace_name, claim.name);
}

}  // namespace

VolumeController::VolumeController(Cluster* cluster, int workers,
                                   std::function<Duration()> call_latency)
    : cluster_(*cluster),
      storage_(cluster->storage()),
      work_(&cluster->clock(), workers, std::move(call_latency)) {
  cluster_.Watch([this](const ClusterChange& change) { OnChange(change); });
}

void VolumeController::OnChange(const ClusterChange& change) {
  const ObjectRef& after = change.objects.after;
  switch (change.resource) {
    case Resource::kPersistentVolume:
      if (after != nullptr) OnVolume(static_cast<const ClusterVolume&>(*after));
      return;
    case Resource::kPersistentVolumeClaim:
      if (after != nullptr) return Sync(QualifiedName(after->namespace_name, after->name));
      return OnClaimGone(static_cast<const ClusterVolumeClaim&>(*change.objects.before));
    case Resource::kStorageClass:
      if (after != nullptr) SyncAll(after->name);
      return;
    default:
      return;
  }
}

void VolumeController::OnVolume(const ClusterVolume& volume) {
  if (!volume.spec.claim.empty()) return Sync(volume.spec.claim);
  SyncAll(volume.spec.class_name);
}

void VolumeController::SyncAll(const std::string& class_name) {
  std::vector<std::string> names;
  for (const auto& [name, claim] : storage_.claims()) {
    if (!claim->is_bound && claim->spec.class_name == class_name) names.push_back(name);
  }
  for (const std::string& name : names) Sync(name);
}

void VolumeController::OnClaimGone(const ClusterVolumeClaim& claim) {
  if (!claim.is_bound) return;
  work_.Add({[this, name = claim.spec.volume_name, owner = NameOf(claim)] {
    const ClusterVolumeRef volume = storage_.FindVolume(name);
    if (volume == nullptr || volume->spec.claim != owner || !volume->spec.goes_with_claim) {
      return false;
    }
    return storage_.FindClaim(owner) == nullptr && cluster_.Delete({"PersistentVolume", "", name});
  }});
}

void VolumeController::Sync(const std::string& name) {
  const ClusterVolumeClaimRef claim = storage_.FindClaim(name);
  if (claim == nullptr || claim->is_bound) return;
  if (const ClusterVolumeRef volume = VolumeFor(*claim)) return Bind(name, volume->name);
  if (!claim->spec.volume_name.empty()) return;
  const ClusterStorageClassRef storage_class = storage_.FindClass(claim->spec.class_name);
  if (storage_class == nullptr || !MakesVolumes(storage_class->spec)) return;
  const bool waits = storage_class->spec.waits_for_consumer && claim->selected_node.empty();
  if (!waits) Provision(*claim, *storage_class);
}

ClusterVolumeRef VolumeController::VolumeFor(const ClusterVolumeClaim& claim) const {
  const std::string name = NameOf(claim);
  if (!claim.spec.volume_name.empty()) {
    const ClusterVolumeRef named = storage_.FindVolume(claim.spec.volume_name);
    const bool is_free =
        named != nullptr && (named->spec.claim.empty() || named->spec.claim == name);
    return is_free ? named : nullptr;
  }
  const ClusterStorageClassRef storage_class = storage_.FindClass(claim.spec.class_name);
  const bool waits = storage_class != nullptr && storage_class->spec.waits_for_consumer;
  ClusterVolumeRef best;
  for (const auto& [volume_name, volume] : storage_.volumes()) {
    if (volume->spec.claim == name) return volume;
    if (waits || !volume->spec.claim.empty() || !Suits(*volume, claim)) continue;
    if (best == nullptr || volume->spec.bytes < best->spec.bytes) best = volume;
  }
  return best;
}

// Another claim may have been ahead when the first call takes effect: then the claim looks again.
void VolumeController::Bind(const std::string& claim, const std::string& volume) {
  work_.Add({[this, claim, volume] {
               const ClusterVolumeRef now = storage_.FindVolume(volume);
               if (now == nullptr || !now->spec.claim.empty()) return false;
               return storage_.UpdateVolume(
                   volume, [&](ClusterVolume* after) { after->spec.claim = claim; });
             },
             [this, claim, volume] {
               const ClusterVolumeRef now = storage_.FindVolume(volume);
               const ClusterVolumeClaimRef owner = storage_.FindClaim(claim);
               if (owner == nullptr || owner->is_bound) return false;
               if (now == nullptr || now->spec.claim != claim) {
                 Sync(claim);
                 return false;
               }
               return storage_.UpdateClaim(claim, [&](ClusterVolumeClaim* after) {
                 after->spec.volume_name = volume;
                 after->is_bound = true;
               });
             }});
}

// That the volume is there is an event, which binds the claim.
void VolumeController::Provision(const ClusterVolumeClaim& claim,
                                 const ClusterStorageClass& storage_class) {
  PersistentVolumeObject body;
  body.driver = DriverOfProvisioner(storage_class.spec.provisioner);
  body.is_csi = true;
  body.bytes = claim.spec.bytes;
  body.access_modes = claim.spec.access_modes;
  body.class_name = claim.spec.class_name;
  body.is_block = claim.spec.is_block;
  body.node_terms = storage_class.spec.allowed_topologies;
  body.claim = NameOf(claim);
  body.goes_with_claim = storage_class.spec.deletes_volumes;
  work_.Add({[this, body = std::move(body)]() mutable {
    const ClusterVolumeClaimRef owner = storage_.FindClaim(body.claim);
    if (owner == nullptr || owner->is_bound || VolumeFor(*owner) != nullptr) return false;
    auto object = std::make_shared<ApiObject>();
    object->kind = "PersistentVolume";
    object->metadata.name = cluster_.GenerateName("pvc-");
    body.handle = object->metadata.name;
    object->body = std::move(body);
    return cluster_.Create(object, "").ok();
  }});
}

}  // namespace schedq
