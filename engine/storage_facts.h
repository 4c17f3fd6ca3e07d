// What hints may see of a StorageClass or a CSINode, beyond its name.
// Threads: immutable once made.
#pragma once

#include <string>
#include <vector>

#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

struct StorageFacts {
  // StorageClass.
  bool waits_for_consumer = false;                // volumeBindingMode is WaitForFirstConsumer.
  std::vector<NodeTerm> allowed_topologies = {};  // Empty: a volume may be anywhere.
  // CSINode.
  ResourceList volume_limits = {};  // By driver; one that is not here has no limit.
  std::vector<std::string> migrated_plugins = {};
};

}  // namespace schedq
