// What plugins ask the book, and what it promises.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/storage_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/volumes/volume_book.h"
#include "engine/pod.h"

namespace schedq {
namespace {

// A disk of a kind about which pods may conflict.
bool MayConflict(const InlineDisk& disk) {
  return Conflicts(disk, {disk.kind, disk.name, disk.monitors, false});
}

}  // namespace

WantedVolumesRef VolumeBook::WantedBy(const ClusterPod& pod) {
  if (pod.volumes == nullptr) return nullptr;
  auto wanted = std::make_shared<WantedVolumes>();
  const PodVolumes& volumes = *pod.volumes;
  wanted->shares_disks = std::any_of(volumes.disks.begin(), volumes.disks.end(), MayConflict);
  const std::lock_guard lock(mutex_);
  for (auto claim = volumes.claims.begin(); claim != volumes.claims.end(); ++claim) {
    // A pod may mount a claim twice, and needs it once.
    if (std::find(volumes.claims.begin(), claim, *claim) != claim) continue;
    AddClaim(QualifiedName(pod.namespace_name, *claim), wanted.get());
  }
  for (const InlineDisk& disk : volumes.disks) {
    AttachedVolume attached = AttachedOf(disk);
    if (!attached.name.empty()) wanted->attached.push_back(std::move(attached));
  }
  std::sort(wanted->attached.begin(), wanted->attached.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  wanted->attached.erase(std::unique(wanted->attached.begin(), wanted->attached.end()),
                         wanted->attached.end());
  std::stable_sort(
      wanted->waiting.begin(), wanted->waiting.end(),
      [](const auto& a, const auto& b) { return a.claim->spec.bytes < b.claim->spec.bytes; });
  wanted->is_in_use = IsAnyInUse(*wanted);
  return wanted;
}

void VolumeBook::AddClaim(const std::string& name, WantedVolumes* wanted) {
  const auto found = claims_.find(name);
  if (found == claims_.end() || found->second.claim == nullptr) {
    wanted->lacks_claim = true;
    return;
  }
  const ClusterVolumeClaim& claim = *found->second.claim;
  if (IsForOnePod(claim)) wanted->for_one_pod.push_back(name);
  if (!found->second.attached.name.empty()) wanted->attached.push_back(found->second.attached);
  AddZones(claim, wanted);
  if (claim.is_bound) return AddBound(claim, wanted);
  const auto storage_class = classes_.find(claim.spec.class_name);
  const bool waits = claim.spec.volume_name.empty() && storage_class != classes_.end() &&
                     storage_class->second->spec.waits_for_consumer;
  if (waits) {
    wanted->waiting.push_back({found->second.claim, name, claim.selected_node});
  } else {
    wanted->is_unbound = true;
  }
}

void VolumeBook::AddBound(const ClusterVolumeClaim& claim, WantedVolumes* wanted) {
  const auto volume = volumes_.find(claim.spec.volume_name);
  if (volume == volumes_.end()) {
    wanted->lacks_volume = true;
  } else if (!volume->second->spec.node_terms.empty()) {
    wanted->reached.push_back(volume->second);
  }
}

void VolumeBook::AddZones(const ClusterVolumeClaim& claim, WantedVolumes* wanted) {
  if (!claim.spec.volume_name.empty()) {
    const auto volume = volumes_.find(claim.spec.volume_name);
    if (volume == volumes_.end()) {
      wanted->has_unknown_zone = true;
      return;
    }
    for (VolumeZone& zone : ZonesOf(volume->second->labels)) {
      wanted->zones.push_back(std::move(zone));
    }
    return;
  }
  const auto storage_class = classes_.find(claim.spec.class_name);
  const bool waits =
      storage_class != classes_.end() && storage_class->second->spec.waits_for_consumer;
  if (!waits) wanted->has_unknown_zone = true;
}

bool VolumeBook::IsAnyInUse(const WantedVolumes& wanted) const {
  return std::any_of(wanted.for_one_pod.begin(), wanted.for_one_pod.end(),
                     [&](const std::string& name) {
                       const auto claim = claims_.find(name);
                       return claim != claims_.end() && claim->second.pods > 0;
                     });
}

uint64_t VolumeBook::WithRoom(const WantedVolumes& wanted, size_t block, uint64_t candidates) {
  const std::lock_guard lock(mutex_);
  return attachments_.WithRoom(wanted.attached, block, candidates);
}

bool VolumeBook::HasFreeDisks(const ClusterPod& pod, uint32_t slot) const {
  const auto& disks = VolumesOf(pod).disks;
  return std::none_of(disks.begin(), disks.end(), [&](const InlineDisk& disk) {
    const auto holders = disks_.find(disk.name);
    return holders != disks_.end() && std::any_of(holders->second.begin(), holders->second.end(),
                                                  [&](const DiskHolder& holder) {
                                                    return holder.slot == slot &&
                                                           Conflicts(disk, holder.disk);
                                                  });
  });
}

uint64_t VolumeBook::WithFreeDisks(const ClusterPod& pod, size_t block, uint64_t candidates) {
  const std::lock_guard lock(mutex_);
  for (const InlineDisk& disk : VolumesOf(pod).disks) {
    const auto holders = disks_.find(disk.name);
    if (holders == disks_.end()) continue;
    for (const DiskHolder& holder : holders->second) {
      if (holder.slot / kNodesPerBlock != block || !Conflicts(disk, holder.disk)) continue;
      candidates &= ~BitOfNode(holder.slot);
    }
  }
  return candidates;
}

uint64_t VolumeBook::WithVolumes(const WantedVolumes& wanted, const NodeColumns& nodes,
                                 size_t block, uint64_t candidates) {
  if (wanted.lacks_volume) return 0;
  const std::lock_guard lock(mutex_);
  uint64_t passed = 0;
  ForEachNode(block, candidates, [&](uint32_t slot) {
    if (Reaches(wanted, nodes.node(slot))) passed |= BitOfNode(slot);
  });
  return passed;
}

bool VolumeBook::Reaches(const WantedVolumes& wanted, const ClusterNode& node) {
  return std::all_of(wanted.reached.begin(), wanted.reached.end(),
                     [&](const ClusterVolumeRef& volume) {
                       return MeetsAnyTerm(volume->spec.node_terms, node);
                     }) &&
         (wanted.waiting.empty() || Bindings(wanted, node).has_value());
}

template <typename Passes>
bool VolumeBook::PassesChanged(uint32_t slot, const NodeChange& change, Passes passes) {
  std::vector<const ClusterPod*> gone;
  for (const ClusterPodRef& pod : change.gone()) {
    if (pod->volumes == nullptr) continue;
    const auto place = places_.find(pod->slot());
    const bool is_there = place != places_.end() && place->second.slot == slot &&
                          place->second.pod->number == pod->number;
    if (is_there) gone.push_back(place->second.pod.get());
  }
  for (const ClusterPod* pod : gone) Count(*pod, slot, -1);
  for (const ClusterPodRef& pod : change.added()) Count(*pod, slot, 1);
  const bool result = passes();
  for (const ClusterPodRef& pod : change.added()) Count(*pod, slot, -1);
  for (const ClusterPod* pod : gone) Count(*pod, slot, 1);
  return result;
}

bool VolumeBook::WouldHaveRoom(const WantedVolumes& wanted, uint32_t slot,
                               const NodeChange& change) {
  const std::lock_guard lock(mutex_);
  return PassesChanged(slot, change, [&] { return attachments_.HasRoom(wanted.attached, slot); });
}

bool VolumeBook::WouldBeFree(const WantedVolumes& wanted, const ClusterPod& pod, uint32_t slot,
                             const NodeChange& change) {
  const std::lock_guard lock(mutex_);
  return PassesChanged(slot, change,
                       [&] { return !IsAnyInUse(wanted) && HasFreeDisks(pod, slot); });
}

std::optional<VolumeDecision> VolumeBook::BindingsOn(const WantedVolumes& wanted, uint32_t slot) {
  const std::lock_guard lock(mutex_);
  if (slot >= nodes_.size() || nodes_[slot] == nullptr) return std::nullopt;
  return Bindings(wanted, *nodes_[slot]);
}

std::optional<VolumeDecision> VolumeBook::Bindings(const WantedVolumes& wanted,
                                                   const ClusterNode& node) {
  VolumeDecision decision;
  std::vector<std::string> chosen;
  for (const WantedVolumes::Waiting& waiting : wanted.waiting) {
    std::string selected = waiting.selected_node;
    const auto promised = promised_claims_.find(waiting.name);
    if (promised != promised_claims_.end()) selected = promised->second.to;
    ClusterVolumeRef volume;
    if (selected.empty()) {
      volume = VolumeMeantFor(waiting.name, *waiting.claim);
      const bool is_meant = volume != nullptr;
      if (!is_meant) volume = available_.Find(*waiting.claim, node, chosen);
      if (is_meant && !MeetsAnyTerm(volume->spec.node_terms, node)) volume = nullptr;
    } else if (selected != node.name) {
      return std::nullopt;
    }
    if (volume != nullptr) {
      chosen.push_back(volume->name);
      decision.bindings.push_back({waiting.name, volume->name});
    } else if (CanProvision(*waiting.claim, node)) {
      decision.to_provision.push_back(waiting.name);
    } else {
      return std::nullopt;
    }
  }
  return decision;
}

ClusterVolumeRef VolumeBook::VolumeMeantFor(const std::string& name,
                                            const ClusterVolumeClaim& claim) const {
  const auto meant = meant_for_.find(name);
  if (meant == meant_for_.end()) return nullptr;
  for (const std::string& each : meant->second) {
    const ClusterVolumeRef& volume = volumes_.at(each);
    if (SuitsAsMeant(*volume, claim)) return volume;
  }
  return nullptr;
}

bool VolumeBook::CanProvision(const ClusterVolumeClaim& claim, const ClusterNode& node) const {
  const auto storage_class = classes_.find(claim.spec.class_name);
  if (storage_class == classes_.end()) return false;
  const StorageClassObject& spec = storage_class->second->spec;
  return MakesVolumes(spec) && MeetsAnyTerm(spec.allowed_topologies, node);
}

bool VolumeBook::MayPromise(const VolumeDecision& decision, const std::string& node) const {
  return std::all_of(decision.bindings.begin(), decision.bindings.end(),
                     [&](const VolumeDecision::Binding& each) { return MayBind(each); }) &&
         std::all_of(decision.to_provision.begin(), decision.to_provision.end(),
                     [&](const std::string& claim) { return MayProvision(claim, node); });
}

ClusterVolumeClaimRef VolumeBook::UnboundClaim(const std::string& name) const {
  const auto found = claims_.find(name);
  if (found == claims_.end() || found->second.claim == nullptr) return nullptr;
  return found->second.claim->is_bound ? nullptr : found->second.claim;
}

bool VolumeBook::MayBind(const VolumeDecision::Binding& binding) const {
  const ClusterVolumeClaimRef claim = UnboundClaim(binding.claim);
  const auto volume = volumes_.find(binding.volume);
  if (claim == nullptr || volume == volumes_.end()) return false;
  // One is being made for it.
  const bool has_node = !claim->selected_node.empty() || promised_claims_.count(binding.claim) != 0;
  const ClusterVolumeRef meant = VolumeMeantFor(binding.claim, *claim);
  if (meant != nullptr) return !has_node && meant->name == binding.volume;
  return !has_node && volume->second->spec.claim.empty() &&
         promised_volumes_.count(binding.volume) == 0;
}

bool VolumeBook::MayProvision(const std::string& name, const std::string& node) const {
  const ClusterVolumeClaimRef claim = UnboundClaim(name);
  if (claim == nullptr) return false;
  const auto promised = promised_claims_.find(name);
  if (promised != promised_claims_.end()) return promised->second.to == node;
  if (!claim->selected_node.empty()) return claim->selected_node == node;
  return VolumeMeantFor(name, *claim) == nullptr;
}

bool VolumeBook::Promise(const VolumeDecision& decision, const std::string& node) {
  const std::lock_guard lock(mutex_);
  if (!MayPromise(decision, node)) return false;
  for (const VolumeDecision::Binding& each : decision.bindings) {
    const ClusterVolumeRef& volume = volumes_.at(each.volume);
    if (!volume->spec.claim.empty()) continue;  // It is the claim's already.
    Promised& promised = promised_volumes_[each.volume];
    promised.to = each.claim;
    if (++promised.pods > 1) continue;
    available_.Remove(*volume);
    meant_for_[each.claim].insert(each.volume);
  }
  for (const std::string& claim : decision.to_provision) {
    Promised& promised = promised_claims_[claim];
    promised.to = node;
    ++promised.pods;
  }
  return true;
}

// No promise: the cluster has decided meanwhile.
void VolumeBook::Release(const VolumeDecision& decision, size_t steps) {
  const std::lock_guard lock(mutex_);
  const size_t bound = std::min(steps, decision.bindings.size());
  for (size_t i = bound; i < decision.bindings.size(); ++i) {
    const std::string& name = decision.bindings[i].volume;
    const auto promised = promised_volumes_.find(name);
    if (promised == promised_volumes_.end() || --promised->second.pods > 0) continue;
    EndMeant(promised->second.to, name);
    promised_volumes_.erase(promised);
    available_.Add(volumes_.at(name));
  }
  for (size_t i = steps - bound; i < decision.to_provision.size(); ++i) {
    const auto promised = promised_claims_.find(decision.to_provision[i]);
    if (promised == promised_claims_.end() || --promised->second.pods > 0) continue;
    promised_claims_.erase(promised);
  }
}

void VolumeBook::EndMeant(const std::string& claim, const std::string& volume) {
  const auto meant = meant_for_.find(claim);
  if (meant == meant_for_.end()) return;
  meant->second.erase(volume);
  if (meant->second.empty()) meant_for_.erase(meant);
}

}  // namespace schedq
