// Objects of storage as templates describe them: volumes, claims for them, storage classes, and
// what nodes attach.
// Threads: immutable after reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/label_selector.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

// Marks of a claim that is bound, and of a claim for which a scheduler has chosen a node.
inline constexpr const char* kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";

struct PersistentVolumeObject {
  // The CSI driver that attaches it, also where it is of an in-tree plugin that was migrated to
  // one; empty: no node counts it.
  std::string driver;
  std::string handle;   // Tells the volumes of a driver apart.
  bool is_csi = false;  // Else it is of an in-tree plugin.
  int64_t bytes = 0;
  std::vector<std::string> access_modes;
  std::string class_name;
  bool is_block = false;             // volumeMode Block.
  std::vector<NodeTerm> node_terms;  // Of the nodes that reach it, one must hold; empty: all do.
  std::string claim;                 // "namespace/name" of its claimRef; empty: it is available.
  bool goes_with_claim = false;      // persistentVolumeReclaimPolicy is Delete.
};

struct PersistentVolumeClaimObject {
  int64_t bytes = 0;
  std::vector<std::string> access_modes;
  std::string class_name;
  bool is_block = false;
  std::optional<LabelSelector> selector;  // Of the volume's labels.
  std::string volume_name;
};

struct StorageClassObject {
  std::string provisioner;
  bool waits_for_consumer = false;           // volumeBindingMode is WaitForFirstConsumer.
  std::vector<NodeTerm> allowed_topologies;  // One must hold; empty: all nodes.
  bool deletes_volumes = true;               // reclaimPolicy is Delete.
};

struct CsiNodeObject {
  ResourceList limits;  // By driver; one that is not here has none.
  std::vector<std::string> migrated_plugins;
};

}  // namespace schedq
