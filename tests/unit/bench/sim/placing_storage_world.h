// Storage of random worlds for tests of placing: claims, volumes, classes and CSINodes that change.
//
// Left out is what upstream's plugins do not hear of: claims and volumes that pods on nodes mount
// do not go, and what a claim counts for does not change when it is bound.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/placing/decision.h"
#include "engine/base/random.h"
#include "engine/event.h"
#include "engine/label_selector.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "engine/pod_volumes.h"
#include "engine/storage_facts.h"

namespace schedq {

// Where volumes and nodes are.
inline constexpr uint64_t kZones = 5;

class StorageWorld {
 public:
  struct Told {
    Resource resource;
    ObjectChange change;
  };

  explicit StorageWorld(uint64_t seed) : random_(seed) {}

  // Of a pod; null: it has none.
  PodVolumesRef Volumes() {
    if (!OneIn(2)) return nullptr;
    PodVolumes volumes;
    if (!OneIn(4)) volumes.claims.push_back(ClaimName());
    if (OneIn(4)) volumes.claims.push_back(ClaimName());
    if (OneIn(4)) {
      const auto kind =
          OneIn(2) ? InlineDisk::Kind::kIscsi : InlineDisk::Kind::kAwsElasticBlockStore;
      volumes.disks.push_back({kind, Letter("disk-", 2), {}, OneIn(2)});
    }
    return std::make_shared<PodVolumes>(std::move(volumes));
  }

  // A random change. `mounted` has the claims of pods on nodes. nullopt: none this time.
  std::optional<Told> Next(const std::set<std::string>& mounted) {
    switch (random_.Below(6)) {
      case 0:
        return ChangeClass();
      case 1:
        return ChangeCsiNode();
      case 2:
        return ChangeVolume();
      case 3:
        return BindClaim();
      default:
        return ChangeClaim(mounted);
    }
  }

  // What PreBind and the controller would do about the decision.
  std::vector<Told> Store(const VolumeDecision& decision) {
    std::vector<Told> told;
    for (const auto& [claim, volume] : decision.bindings) Bind(claim, volume, &told);
    for (const std::string& claim : decision.to_provision) {
      auto volume = NewVolume("made-for-" + claim, "late");
      volume->spec.node_terms = classes_.at("late")->spec.allowed_topologies;
      volumes_[volume->name] = volume;
      told.push_back({Resource::kPersistentVolume, {nullptr, volume}});
      Bind(claim, volume->name, &told);
    }
    return told;
  }

 private:
  bool OneIn(uint64_t count) { return random_.Below(count) == 0; }
  std::string Letter(const char* prefix, uint64_t count) {
    return prefix + std::string(1, static_cast<char>('a' + random_.Below(count)));
  }
  std::string ClaimName() { return Letter("claim-", 4); }
  std::vector<NodeTerm> Zone() {
    if (OneIn(3)) return {};
    return {{{{"zone", LabelRequirement::Operator::kIn, {Letter("", 3)}}, false}}};
  }

  template <typename Object>
  Told Replace(std::map<std::string, std::shared_ptr<const Object>>* objects,
               const std::string& name, std::shared_ptr<Object> object, Resource resource) {
    std::shared_ptr<const Object>& place = (*objects)[name];
    Told told{resource, {place, object}};
    place = std::move(object);
    return told;
  }
  template <typename Object>
  static std::shared_ptr<Object> CopyOf(
      const std::map<std::string, std::shared_ptr<const Object>>& objects,
      const std::string& name) {
    const auto found = objects.find(name);
    return found == objects.end() ? nullptr : std::make_shared<Object>(*found->second);
  }

  std::optional<Told> ChangeClass() {
    const std::string name = OneIn(3) ? "now" : "late";
    auto object = CopyOf(classes_, name);
    if (object == nullptr) {
      object = std::make_shared<ClusterStorageClass>();
      object->resource = Resource::kStorageClass;
      object->name = name;
      object->spec.provisioner = OneIn(2) ? "kubernetes.io/no-provisioner" : "driver-" + name;
      object->spec.waits_for_consumer = name == "late";
    }
    object->spec.allowed_topologies = Zone();
    auto facts = std::make_shared<StorageFacts>();
    facts->waits_for_consumer = object->spec.waits_for_consumer;
    facts->allowed_topologies = object->spec.allowed_topologies;
    object->storage = std::move(facts);
    return Replace(&classes_, name, std::move(object), Resource::kStorageClass);
  }

  std::optional<Told> ChangeCsiNode() {
    const std::string name = "n" + std::to_string(1 + random_.Below(6));
    auto object = CopyOf(csi_nodes_, name);
    if (object == nullptr) object = std::make_shared<ClusterCsiNode>();
    object->resource = Resource::kCSINode;
    object->name = name;
    object->spec.limits.clear();
    for (const char* driver : {"driver-late", "driver-now", "ebs.csi.aws.com"}) {
      if (OneIn(4)) continue;
      object->spec.limits.emplace_back(driver, static_cast<int64_t>(random_.Below(3)));
    }
    auto facts = std::make_shared<StorageFacts>();
    facts->volume_limits = object->spec.limits;
    object->storage = std::move(facts);
    return Replace(&csi_nodes_, name, std::move(object), Resource::kCSINode);
  }

  std::shared_ptr<ClusterVolume> NewVolume(const std::string& name, const std::string& class_name) {
    auto volume = std::make_shared<ClusterVolume>();
    volume->resource = Resource::kPersistentVolume;
    volume->name = name;
    volume->spec.class_name = class_name;
    volume->spec.driver = "driver-" + class_name;
    volume->spec.handle = name;
    volume->spec.bytes = 1 + static_cast<int64_t>(random_.Below(2));
    volume->spec.access_modes = {"ReadWriteOnce", "ReadWriteOncePod"};
    return volume;
  }

  std::optional<Told> ChangeVolume() {
    std::string name = "volume-" + std::to_string(random_.Below(6));
    if (!volumes_.empty() && OneIn(2)) {
      auto any = volumes_.begin();
      std::advance(any, static_cast<std::ptrdiff_t>(random_.Below(volumes_.size())));
      name = any->first;
    }
    auto object = CopyOf(volumes_, name);
    if (object == nullptr) {
      object = NewVolume(name, OneIn(3) ? "now" : "late");
      object->spec.node_terms = Zone();
    } else if (object->spec.claim.empty() && OneIn(4)) {
      Told told{Resource::kPersistentVolume, {volumes_[name], nullptr}};
      volumes_.erase(name);
      return told;
    }
    object->labels.clear();
    if (!OneIn(5)) object->labels = {{"topology.kubernetes.io/zone", Letter("", kZones)}};
    return Replace(&volumes_, name, std::move(object), Resource::kPersistentVolume);
  }

  std::optional<Told> ChangeClaim(const std::set<std::string>& mounted) {
    auto object = std::make_shared<ClusterVolumeClaim>();
    object->resource = Resource::kPersistentVolumeClaim;
    object->namespace_name = OneIn(3) ? "other" : "ns";
    object->name = ClaimName();
    const std::string name = QualifiedName(object->namespace_name, object->name);
    if (claims_.count(name) != 0) {
      if (mounted.count(name) != 0 || !OneIn(4)) return std::nullopt;
      Told told{Resource::kPersistentVolumeClaim, {claims_[name], nullptr}};
      claims_.erase(name);
      return told;
    }
    object->spec.class_name = OneIn(3) ? "now" : "late";
    object->spec.bytes = 1 + static_cast<int64_t>(random_.Below(2));
    object->spec.access_modes = {OneIn(2) ? "ReadWriteOnce" : "ReadWriteOncePod"};
    return Replace(&claims_, name, std::move(object), Resource::kPersistentVolumeClaim);
  }

  // As a controller would; the volume first.
  std::optional<Told> BindClaim() {
    for (const auto& [name, claim] : claims_) {
      if (claim->is_bound || claim->spec.class_name != "now" || !OneIn(2)) continue;
      for (const auto& [volume_name, volume] : volumes_) {
        const bool is_meant = volume->spec.claim == name;
        if (!is_meant && (!volume->spec.claim.empty() || !Suits(*volume, *claim))) continue;
        std::vector<Told> told;
        Bind(name, volume_name, &told);
        return is_meant ? told.back() : told.front();
      }
    }
    return std::nullopt;
  }

  // Takes the claim's step only where the volume names the claim already.
  void Bind(const std::string& name, const std::string& volume_name, std::vector<Told>* told) {
    auto volume = CopyOf(volumes_, volume_name);
    const bool is_meant = volume->spec.claim == name;
    volume->spec.claim = name;
    told->push_back(
        Replace(&volumes_, volume_name, std::move(volume), Resource::kPersistentVolume));
    auto claim = CopyOf(claims_, name);
    const bool is_stored_at_once = claim->spec.class_name == "late";
    if (!is_meant && !is_stored_at_once) return;
    claim->spec.volume_name = volume_name;
    claim->is_bound = true;
    told->push_back(Replace(&claims_, name, std::move(claim), Resource::kPersistentVolumeClaim));
  }

  Random random_;
  std::map<std::string, ClusterStorageClassRef> classes_;
  std::map<std::string, ClusterCsiNodeRef> csi_nodes_;
  std::map<std::string, ClusterVolumeRef> volumes_;
  std::map<std::string, ClusterVolumeClaimRef> claims_;
};

}  // namespace schedq
