// What an event's hints may see of the API object that changed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/event.h"
#include "engine/pod.h"

namespace schedq {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  bool operator==(const Taint&) const = default;
};

// In ascending order.
using FeatureNames = std::vector<std::string>;
struct StorageFacts;  // storage_facts.h
using StorageFactsRef = std::shared_ptr<const StorageFacts>;

// One immutable version of an object, shared with the in-flight event log.
struct ObjectView {
  Resource resource = Resource::kWildcard;
  std::string namespace_name;
  std::string name;
  std::string uid;
  Labels labels;
  bool allocated = false;       // ResourceClaim: it has an allocation.
  uint64_t status_version = 0;  // ResourceClaim: changes whenever its status does.
  ResourceList allocatable;     // Node.
  std::vector<Taint> taints;    // Node.
  bool unschedulable = false;   // Node.
  // Node: null declares none. Nodes that declare the same may share it.
  std::shared_ptr<const FeatureNames> declared_features;
  PodRef pod;               // AssignedPod, UnscheduledPod, TargetPod.
  std::string group_name;   // Of an event about a pod of which no version is at hand.
  int64_t min_count = 0;    // PodGroup.
  StorageFactsRef storage;  // StorageClass, CSINode. Null: nothing is known of it.
};

using ObjectRef = std::shared_ptr<const ObjectView>;

// Old and new version; Add has no old one, Delete no new one, both may be unknown.
struct ObjectChange {
  ObjectRef before;
  ObjectRef after;

  // The version that hints look at: the new one, else the old; may be null.
  const ObjectView* Latest() const { return after ? after.get() : before.get(); }
};

}  // namespace schedq
