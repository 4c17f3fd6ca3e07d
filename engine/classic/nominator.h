// Which pods are nominated to which node. Guarded by the engine's mutex.
//
// Invariants:
//  1. A pod is nominated to one node at most.
//  2. A node without nominated pods has no entry, so unknown and deleted nodes leak nothing.
#pragma once

#include <folly/container/F14Map.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/names/name_key.h"
#include "engine/pod_key.h"

namespace schedq {

class Nominator {
 public:
  // Replaces the pod's nomination; an empty node leaves none.
  void Set(const PodKey& pod, std::string_view node);
  void Clear(const PodKey& pod);

  // Empty: none.
  std::string_view NodeOf(const PodKey& pod) const;
  std::span<const PodKey> PodsOn(std::string_view node) const;

 private:
  struct KeyHash {
    size_t operator()(const PodKey& key) const {
      return FoldedProduct(key.uid_fingerprint ^ secret.first, key.id ^ secret.second);
    }

    NameKey secret = NameKey::OfProcess();
  };

  folly::F14FastMap<std::string, std::vector<PodKey>, NameHash, std::equal_to<>> pods_by_node_;
  folly::F14FastMap<PodKey, std::string, KeyHash> node_by_pod_;
};

}  // namespace schedq
