#include "bench/sim/cluster/audit_volumes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/cluster/storage.h"
#include "engine/pod.h"
#include "engine/pod_volumes.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {
namespace {

class VolumesAudit {
 public:
  VolumesAudit(const Cluster& cluster, std::vector<std::string>* faults)
      : storage_(cluster.storage()), faults_(*faults) {
    for (const auto& [number, node] : cluster.nodes()) nodes_[node->name] = node.get();
    for (const auto& [number, pod] : cluster.pods()) {
      if (pod->volumes != nullptr && !pod->node_name.empty()) pods_.push_back(pod.get());
    }
  }

  void Run() {
    AuditClaims();
    for (const ClusterPod* pod : pods_) {
      const bool was_placed = pod->spec().pod.node_name.empty();
      for (const std::string& claim : pod->volumes->claims) {
        AuditClaimOf(*pod, QualifiedName(pod->namespace_name, claim), was_placed);
      }
      for (const InlineDisk& disk : pod->volumes->disks) AuditDisk(*pod, disk, was_placed);
    }
    AuditLimits();
  }

 private:
  void Blame(const ClusterPod& pod, const std::string& why) {
    faults_.push_back(fmt::format("pod {} is on {} {}", QualifiedName(pod), pod.node_name, why));
  }

  void AuditClaims() {
    for (const auto& [name, claim] : storage_.claims()) {
      if (!claim->is_bound) continue;
      const ClusterVolumeRef volume = storage_.FindVolume(claim->spec.volume_name);
      if (volume == nullptr || volume->spec.claim == name) continue;
      faults_.push_back(fmt::format("claim {} is bound to volume {}, which is {}'s", name,
                                    volume->name, volume->spec.claim));
    }
    for (const auto& [name, volume] : storage_.volumes()) {
      const ClusterVolumeClaimRef claim = storage_.FindClaim(volume->spec.claim);
      if (claim == nullptr || !claim->is_bound || claim->spec.volume_name == name) continue;
      faults_.push_back(fmt::format("volume {} is given to claim {}, which is bound to {}", name,
                                    volume->spec.claim, claim->spec.volume_name));
    }
  }

  void AuditClaimOf(const ClusterPod& pod, const std::string& name, bool was_placed) {
    const ClusterVolumeClaimRef claim = storage_.FindClaim(name);
    if (claim == nullptr) return;  // It was deleted after the pod was bound.
    if (IsForOnePod(*claim) && was_placed) {
      const auto [first, is_first] = mounted_.emplace(name, &pod);
      if (!is_first) Blame(pod, "with claim " + name + ", as " + QualifiedName(*first->second));
    }
    if (was_placed && !claim->is_bound) Blame(pod, "and its claim " + name + " is not bound");
    const ClusterVolumeRef volume = storage_.FindVolume(claim->spec.volume_name);
    if (volume == nullptr) return;
    Attach(pod, volume->spec.driver, volume->spec.handle, was_placed);
    const auto node = nodes_.find(pod.node_name);
    if (node == nodes_.end() || node->second->relabelled || !was_placed) return;
    if (!MeetsAnyTerm(volume->spec.node_terms, *node->second)) {
      Blame(pod, "which does not reach its volume " + volume->name);
    }
    if (!IsInZones(ZonesOf(volume->labels), node->second->labels)) {
      Blame(pod, "outside of the zones of its volume " + volume->name);
    }
  }

  void AuditDisk(const ClusterPod& pod, const InlineDisk& disk, bool was_placed) {
    Attach(pod, DriverOf(disk), disk.name, was_placed);
    auto& holders = disks_[pod.node_name + ' ' + disk.name];
    for (const auto& [other, holder] : holders) {
      if (other != &pod && was_placed && Conflicts(disk, *holder)) {
        Blame(pod, "with disk " + disk.name + ", as " + QualifiedName(*other));
      }
    }
    holders.emplace_back(&pod, &disk);
  }

  void Attach(const ClusterPod& pod, const std::string& driver, const std::string& handle,
              bool was_placed) {
    if (driver.empty() || handle.empty()) return;
    Attached& attached = attached_[pod.node_name][driver];
    attached.handles.insert(handle);
    attached.all_were_placed = attached.all_were_placed && was_placed;
    attached.first_pod = std::min(attached.first_pod, pod.number);
  }

  void AuditLimits() {
    for (const auto& [node, drivers] : attached_) {
      const ClusterCsiNodeRef csi_node = storage_.FindCsiNode(node);
      if (csi_node == nullptr) continue;
      for (const auto& [driver, limit] : csi_node->spec.limits) {
        const auto found = drivers.find(driver);
        if (found == drivers.end() || !found->second.all_were_placed) continue;
        // A scheduler may have placed the pod before it knew of the limit.
        if (found->second.first_pod <= csi_node->pods_before_limits) continue;
        const size_t count = found->second.handles.size();
        if (count <= static_cast<size_t>(limit)) continue;
        faults_.push_back(
            fmt::format("node {} has {} volumes of {}, and takes {}", node, count, driver, limit));
      }
    }
  }

  struct Attached {
    std::set<std::string> handles;
    bool all_were_placed = true;
    uint64_t first_pod = UINT64_MAX;  // Its number.
  };
  using Holders = std::vector<std::pair<const ClusterPod*, const InlineDisk*>>;

  const Storage& storage_;
  std::vector<std::string>& faults_;
  std::unordered_map<std::string, const ClusterNode*> nodes_;
  std::vector<const ClusterPod*> pods_;
  std::map<std::string, const ClusterPod*> mounted_;  // The first pod of a claim for one pod.
  std::map<std::string, Holders> disks_;              // By node and the disk's name.
  std::map<std::string, std::map<std::string, Attached>> attached_;  // By node and driver.
};

}  // namespace

void AuditVolumes(const Cluster& cluster, std::vector<std::string>* faults) {
  VolumesAudit(cluster, faults).Run();
}

}  // namespace schedq
