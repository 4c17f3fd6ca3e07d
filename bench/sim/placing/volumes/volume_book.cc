// What the cluster says, and where pods count. volume_questions.cc has what plugins ask.
#include "bench/sim/placing/volumes/volume_book.h"

#include <algorithm>
#include <utility>

#include "bench/format/objects/storage_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {
namespace {

template <typename Object>
std::shared_ptr<const Object> Cast(const ObjectRef& object) {
  return std::static_pointer_cast<const Object>(object);
}

template <typename Objects>
auto FindIn(const Objects& objects, const std::string& name) {
  const auto found = objects.find(name);
  return found == objects.end() ? nullptr : found->second;
}

std::string NameOf(const ObjectView& object) {
  return QualifiedName(object.namespace_name, object.name);
}

}  // namespace

void VolumeBook::Apply(const ClusterChange& change) {
  const std::lock_guard lock(mutex_);
  switch (change.resource) {
    case Resource::kPersistentVolume:
      return ApplyVolume(change);
    case Resource::kPersistentVolumeClaim:
      return ApplyClaim(change);
    case Resource::kStorageClass:
      return ApplyClass(change);
    case Resource::kCSINode:
      return ApplyCsiNode(change);
    default:
      return;
  }
}

void VolumeBook::ApplyVolume(const ClusterChange& change) {
  const auto before = Cast<ClusterVolume>(change.objects.before);
  const auto after = Cast<ClusterVolume>(change.objects.after);
  const std::string& name = change.objects.Latest()->name;
  if (before != nullptr) {
    available_.Remove(*before);
    EndMeant(before->spec.claim, name);
  }
  // The cluster knows by now to whom it goes.
  const bool is_decided = after == nullptr || !after->spec.claim.empty();
  const auto promised = promised_volumes_.find(name);
  if (promised != promised_volumes_.end() && is_decided) {
    EndMeant(promised->second.to, name);
    promised_volumes_.erase(promised);
  } else if (promised == promised_volumes_.end() && !is_decided) {
    available_.Add(after);
  }
  if (after == nullptr) {
    volumes_.erase(name);
  } else {
    volumes_[name] = after;
    if (is_decided) meant_for_[after->spec.claim].insert(name);
  }
  CountClaimsOf(name);
}

void VolumeBook::CountClaimsOf(const std::string& volume) {
  const auto claims = claims_of_.find(volume);
  if (claims == claims_of_.end()) return;
  for (const std::string& name : claims->second) CountAnew(name, &claims_.at(name));
}

void VolumeBook::ApplyClaim(const ClusterChange& change) {
  const auto before = Cast<ClusterVolumeClaim>(change.objects.before);
  const auto after = Cast<ClusterVolumeClaim>(change.objects.after);
  const std::string name = NameOf(*change.objects.Latest());
  if (before != nullptr && !before->spec.volume_name.empty()) {
    const auto of_volume = claims_of_.find(before->spec.volume_name);
    if (of_volume != claims_of_.end()) of_volume->second.erase(name);
    if (of_volume != claims_of_.end() && of_volume->second.empty()) claims_of_.erase(of_volume);
  }
  if (after != nullptr && !after->spec.volume_name.empty()) {
    claims_of_[after->spec.volume_name].insert(name);
  }
  // The cluster knows by now for which node its volume is.
  if (after == nullptr || after->is_bound || !after->selected_node.empty()) {
    promised_claims_.erase(name);
  }
  Claim& claim = claims_[name];
  claim.claim = after;
  CountAnew(name, &claim);
  ForgetUnused(name);
}

void VolumeBook::ApplyClass(const ClusterChange& change) {
  const std::string& name = change.objects.Latest()->name;
  if (change.objects.after == nullptr) {
    classes_.erase(name);
  } else {
    classes_[name] = Cast<ClusterStorageClass>(change.objects.after);
  }
  for (auto& [claim_name, claim] : claims_) {
    const bool is_of_class = claim.claim != nullptr && claim.claim->spec.class_name == name;
    if (is_of_class) CountAnew(claim_name, &claim);
  }
}

void VolumeBook::ApplyCsiNode(const ClusterChange& change) {
  const std::string& name = change.objects.Latest()->name;
  const auto after = Cast<ClusterCsiNode>(change.objects.after);
  if (after == nullptr) {
    csi_nodes_.erase(name);
  } else {
    csi_nodes_[name] = after;
  }
  const auto slot = slots_.find(name);
  if (slot == slots_.end()) return;
  attachments_.SetLimits(slot->second, after == nullptr ? ResourceList() : after->spec.limits);
}

void VolumeBook::SetNode(uint32_t slot, const ClusterNodeRef& node) {
  const std::lock_guard lock(mutex_);
  if (slot >= nodes_.size()) nodes_.resize(slot + 1);
  const ClusterNodeRef before = std::exchange(nodes_[slot], node);
  if (node == nullptr) {
    if (before != nullptr) slots_.erase(before->name);
    return attachments_.SetLimits(slot, {});
  }
  if (!slots_.try_emplace(node->name, slot).second) return;
  const ClusterCsiNodeRef csi_node = FindIn(csi_nodes_, node->name);
  attachments_.SetLimits(slot, csi_node == nullptr ? ResourceList() : csi_node->spec.limits);
}

AttachedVolume VolumeBook::AttachedOf(const std::string& name, const Claim& claim) {
  if (claim.claim == nullptr) return {};
  const PersistentVolumeClaimObject& spec = claim.claim->spec;
  const ClusterVolumeRef volume = FindIn(volumes_, spec.volume_name);
  if (volume != nullptr) return attachments_.VolumeOf(volume->spec.driver, volume->spec.handle);
  const ClusterStorageClassRef storage_class = FindIn(classes_, spec.class_name);
  if (storage_class == nullptr) return {};
  // It counts as a volume of its own until it is there.
  return attachments_.VolumeOf(DriverOfProvisioner(storage_class->spec.provisioner),
                               "to be/" + name);
}

AttachedVolume VolumeBook::AttachedOf(const InlineDisk& disk) {
  return attachments_.VolumeOf(DriverOf(disk), disk.name);
}

void VolumeBook::CountAnew(const std::string& name, Claim* claim) {
  AttachedVolume now = AttachedOf(name, *claim);
  if (now == claim->attached) return;
  for (const auto& [slot, pods] : claim->by_slot) {
    attachments_.Mount(claim->attached, slot, -pods);
    attachments_.Mount(now, slot, pods);
  }
  claim->attached = std::move(now);
}

void VolumeBook::ForgetUnused(const std::string& name) {
  const auto claim = claims_.find(name);
  if (claim->second.claim == nullptr && claim->second.pods == 0) claims_.erase(claim);
}

void VolumeBook::Count(const ClusterPod& pod, uint32_t slot, int64_t sign) {
  for (const std::string& claim : VolumesOf(pod).claims) {
    CountClaim(QualifiedName(pod.namespace_name, claim), slot, sign);
  }
  for (const InlineDisk& disk : VolumesOf(pod).disks) CountDisk(disk, pod, slot, sign);
}

void VolumeBook::CountClaim(const std::string& name, uint32_t slot, int64_t sign) {
  Claim& claim = claims_[name];
  claim.pods += sign;
  const auto of_slot = std::find_if(claim.by_slot.begin(), claim.by_slot.end(),
                                    [slot](const auto& each) { return each.first == slot; });
  if (of_slot == claim.by_slot.end()) {
    claim.by_slot.emplace_back(slot, sign);
  } else if ((of_slot->second += sign) == 0) {
    *of_slot = claim.by_slot.back();
    claim.by_slot.pop_back();
  }
  attachments_.Mount(claim.attached, slot, sign);
  ForgetUnused(name);
}

void VolumeBook::CountDisk(const InlineDisk& disk, const ClusterPod& pod, uint32_t slot,
                           int64_t sign) {
  attachments_.Mount(AttachedOf(disk), slot, sign);
  std::vector<DiskHolder>& holders = disks_[disk.name];
  if (sign > 0) return holders.push_back({disk, slot, pod.number});
  const auto holder = std::find_if(holders.begin(), holders.end(), [&](const DiskHolder& each) {
    return each.pod == pod.number && each.slot == slot && each.disk == disk;
  });
  if (holder != holders.end()) holders.erase(holder);
  if (holders.empty()) disks_.erase(disk.name);
}

void VolumeBook::Put(const ClusterPodRef& pod, uint32_t slot, uint64_t place) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = places_.try_emplace(pod->slot());
  Place& current = known->second;
  const bool is_there = !is_new && current.slot == slot && current.pod->number == pod->number;
  if (!is_there) {
    if (!is_new) Count(*current.pod, current.slot, -1);
    Count(*pod, slot, 1);
  }
  current = {pod, slot, place};
}

bool VolumeBook::PutWhereAllowed(const ClusterPodRef& pod, uint32_t slot, uint64_t place) {
  const WantedVolumesRef wanted = WantedBy(*pod);
  {
    const std::lock_guard lock(mutex_);
    if (IsAnyInUse(*wanted) || !HasFreeDisks(*pod, slot) ||
        !attachments_.HasRoom(wanted->attached, slot)) {
      return false;
    }
    // A slot that went to another pod keeps nothing of the last one.
    const auto [known, is_new] = places_.try_emplace(pod->slot());
    if (!is_new) Count(*known->second.pod, known->second.slot, -1);
    Count(*pod, slot, 1);
    known->second = {pod, slot, place};
  }
  return true;
}

void VolumeBook::Drop(uint64_t pod_slot, uint64_t place) {
  const std::lock_guard lock(mutex_);
  const auto known = places_.find(pod_slot);
  if (known == places_.end() || known->second.place != place) return;
  Count(*known->second.pod, known->second.slot, -1);
  places_.erase(known);
}

}  // namespace schedq
