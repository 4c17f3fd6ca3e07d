#include "bench/sim/cluster/volume_controller.h"

#include <memory>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {
namespace {

std::string NameOf(const ClusterVolumeClaim& claim) {
  return QualifiedName(claim.namespace_name, claim.name);
}

void Erase(std::map<std::string, std::set<std::string>>* sets, const std::string& of,
           const std::string& name) {
  const auto found = sets->find(of);
  if (found == sets->end()) return;
  found->second.erase(name);
  if (found->second.empty()) sets->erase(found);
}

// A copy: work that is started for one changes the sets.
std::vector<std::string> NamesIn(const std::map<std::string, std::set<std::string>>& sets,
                                 const std::string& of) {
  const auto found = sets.find(of);
  if (found == sets.end()) return {};
  return {found->second.begin(), found->second.end()};
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
  const ObjectRef& before = change.objects.before;
  const ObjectRef& after = change.objects.after;
  switch (change.resource) {
    case Resource::kPersistentVolume:
      if (after != nullptr) OnVolume(static_cast<const ClusterVolume&>(*after));
      return;
    case Resource::kPersistentVolumeClaim:
      return OnClaim(static_cast<const ClusterVolumeClaim*>(before.get()),
                     static_cast<const ClusterVolumeClaim*>(after.get()));
    case Resource::kStorageClass:
      if (after == nullptr) return;
      for (const std::string& claim : NamesIn(unbound_, after->name)) Sync(claim);
      return;
    default:
      return;
  }
}

void VolumeController::OnVolume(const ClusterVolume& volume) {
  if (!volume.spec.claim.empty()) return Sync(volume.spec.claim);
  for (const std::string& claim : NamesIn(naming_, volume.name)) Sync(claim);
  Offer(volume.name);
}

void VolumeController::OnClaim(const ClusterVolumeClaim* before, const ClusterVolumeClaim* after) {
  if (before != nullptr) {
    RemoveIdle(NameOf(*before));
    Erase(&unbound_, before->spec.class_name, NameOf(*before));
    Erase(&naming_, before->spec.volume_name, NameOf(*before));
  }
  if (after == nullptr) return DeleteVolumeOf(*before);
  if (after->is_bound) return;
  unbound_[after->spec.class_name].insert(NameOf(*after));
  if (!after->spec.volume_name.empty()) naming_[after->spec.volume_name].insert(NameOf(*after));
  Sync(NameOf(*after));
}

void VolumeController::DeleteVolumeOf(const ClusterVolumeClaim& claim) {
  if (!claim.is_bound) return;
  work_.Add({[this, name = claim.spec.volume_name, owner = NameOf(claim)] {
    const ClusterVolumeRef volume = storage_.FindVolume(name);
    if (volume == nullptr || volume->spec.claim != owner || !volume->spec.goes_with_claim) {
      return false;
    }
    return storage_.FindClaim(owner) == nullptr && cluster_.Delete({"PersistentVolume", "", name});
  }});
}

void VolumeController::Sync(const std::string& name, const std::string& offered) {
  ++steps_;
  const ClusterVolumeClaimRef claim = storage_.FindClaim(name);
  if (claim == nullptr || claim->is_bound) return;
  const auto [item, is_new] = items_.try_emplace(name);
  if (!is_new) {
    item->second.again = item->second.is_under_way;
    return;
  }
  item->second.offered = offered;
  RemoveIdle(name);
  work_.AddPlanned([this, name] { return Plan(name); });
}

std::deque<WorkQueue::Call> VolumeController::Plan(const std::string& name) {
  ++steps_;
  Item& item = items_.at(name);
  item.is_under_way = true;
  std::deque<WorkQueue::Call> calls;
  const ClusterVolumeClaimRef claim = storage_.FindClaim(name);
  if (claim != nullptr && !claim->is_bound) {
    if (const ClusterVolumeRef volume = VolumeFor(*claim)) {
      item.volume = volume->name;
      if (volume->spec.claim.empty()) calls.emplace_back([this, name] { return Reserve(name); });
      calls.emplace_back([this, name] { return BindClaim(name); });
    } else if (IsToProvision(*claim)) {
      calls.emplace_back([this, name] { return Provision(name); });
    } else if (claim->spec.volume_name.empty() && !WaitsForPod(*claim)) {
      AddIdle(*claim);
    }
  }
  if (calls.empty()) End(name);
  return calls;
}

void VolumeController::End(const std::string& name) {
  const Item item = std::move(items_.extract(name).mapped());
  if (!item.offered.empty() && item.volume != item.offered) Offer(item.offered);
  if (item.again) Sync(name);
}

ClusterVolumeRef VolumeController::VolumeFor(const ClusterVolumeClaim& claim) const {
  if (!claim.spec.volume_name.empty()) {
    const ClusterVolumeRef named = storage_.FindVolume(claim.spec.volume_name);
    if (named == nullptr) return nullptr;
    const bool is_its = named->spec.claim == NameOf(claim);
    const bool suits = named->spec.claim.empty() && SuitsAsNamed(*named, claim);
    return is_its || suits ? named : nullptr;
  }
  if (ClusterVolumeRef meant = storage_.volume_index().MeantFor(claim)) return meant;
  return WaitsForPod(claim) ? nullptr : storage_.volume_index().SmallestFor(claim);
}

bool VolumeController::WaitsForPod(const ClusterVolumeClaim& claim) const {
  const ClusterStorageClassRef storage_class = storage_.FindClass(claim.spec.class_name);
  return storage_class != nullptr && storage_class->spec.waits_for_consumer;
}

bool VolumeController::IsToProvision(const ClusterVolumeClaim& claim) const {
  const ClusterStorageClassRef storage_class = storage_.FindClass(claim.spec.class_name);
  return claim.spec.volume_name.empty() && storage_class != nullptr &&
         MakesVolumes(storage_class->spec) &&
         (!storage_class->spec.waits_for_consumer || !claim.selected_node.empty());
}

// Another claim may have been ahead: then this one takes another volume.
bool VolumeController::Reserve(const std::string& name) {
  const ClusterVolumeClaimRef claim = storage_.FindClaim(name);
  if (claim == nullptr || claim->is_bound) return false;
  const ClusterVolumeRef volume = VolumeFor(*claim);
  if (volume == nullptr) return false;
  items_.at(name).volume = volume->name;
  return volume->spec.claim.empty() &&
         storage_.UpdateVolume(volume->name,
                               [&](ClusterVolume* after) { after->spec.claim = name; });
}

bool VolumeController::BindClaim(const std::string& name) {
  Item& item = items_.at(name);
  const ClusterVolumeClaimRef claim = storage_.FindClaim(name);
  const ClusterVolumeRef volume = storage_.FindVolume(item.volume);
  const bool is_its = volume != nullptr && volume->spec.claim == name;
  const bool binds = is_its && claim != nullptr && !claim->is_bound;
  if (binds) {
    storage_.UpdateClaim(name, [&](ClusterVolumeClaim* after) {
      after->spec.volume_name = volume->name;
      after->is_bound = true;
    });
  }
  // Without a volume the claim looks again.
  item.again = item.again || !is_its;
  End(name);
  return binds;
}

// That the volume is there is an event, which binds the claim.
bool VolumeController::Provision(const std::string& name) {
  const ClusterVolumeClaimRef claim = storage_.FindClaim(name);
  const bool provisions =
      claim != nullptr && !claim->is_bound && VolumeFor(*claim) == nullptr && IsToProvision(*claim);
  if (provisions) {
    const StorageClassObject& of = storage_.FindClass(claim->spec.class_name)->spec;
    PersistentVolumeObject body;
    body.driver = DriverOfProvisioner(of.provisioner);
    body.is_csi = true;
    body.bytes = claim->spec.bytes;
    body.access_modes = claim->spec.access_modes;
    body.class_name = claim->spec.class_name;
    body.is_block = claim->spec.is_block;
    body.node_terms = of.allowed_topologies;
    body.claim = name;
    body.goes_with_claim = of.deletes_volumes;
    auto object = std::make_shared<ApiObject>();
    object->kind = "PersistentVolume";
    object->metadata.name = cluster_.GenerateName("pvc-");
    body.handle = object->metadata.name;
    object->body = std::move(body);
    const auto created = cluster_.Create(object, "");
    SCHEDQ_CHECK(created.ok(), "no other object has a name that was generated");
  }
  // There may be a volume by now.
  if (!provisions) items_.at(name).again = true;
  End(name);
  return provisions;
}

void VolumeController::AddIdle(const ClusterVolumeClaim& claim) {
  idle_claims_[NameOf(claim)] = {claim.spec.class_name, claim.spec.bytes};
  idle_[claim.spec.class_name].emplace(claim.spec.bytes, NameOf(claim));
}

void VolumeController::RemoveIdle(const std::string& name) {
  const auto known = idle_claims_.extract(name);
  if (known.empty()) return;
  const auto& [class_name, bytes] = known.mapped();
  const auto of_class = idle_.find(class_name);
  of_class->second.erase({bytes, name});
  if (of_class->second.empty()) idle_.erase(of_class);
}

void VolumeController::Offer(const std::string& name) {
  const ClusterVolumeRef volume = storage_.FindVolume(name);
  if (volume == nullptr || !volume->spec.claim.empty()) return;
  const auto of_class = idle_.find(volume->spec.class_name);
  if (of_class == idle_.end()) return;
  for (const auto& [bytes, claim_name] : of_class->second) {
    if (bytes > volume->spec.bytes) return;
    ++steps_;
    const ClusterVolumeClaimRef claim = storage_.FindClaim(claim_name);
    if (claim == nullptr || claim->is_bound || !Suits(*volume, *claim)) continue;
    return Sync(std::string(claim_name), name);
  }
}

}  // namespace schedq
