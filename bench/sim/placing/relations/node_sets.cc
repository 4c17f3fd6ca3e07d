#include "bench/sim/placing/relations/node_sets.h"

#include "engine/label_selector.h"

namespace schedq {

void Domains::SetNode(uint32_t slot, const ClusterNode* node) {
  if (slot >= of_.size()) of_.resize(slot + 1, kNone);
  const std::string* const value = node == nullptr ? nullptr : FindLabel(node->labels, key_);
  if (value == nullptr) {
    of_[slot] = kNone;
    return;
  }
  of_[slot] = ids_.try_emplace(*value, static_cast<int32_t>(ids_.size())).first->second;
}

void NodeSet::SetNode(uint32_t slot, const ClusterNode* node) {
  if (slot >= has_.size()) has_.resize(slot + 1);
  has_[slot] = node != nullptr && wanted_(*node);
}

}  // namespace schedq
