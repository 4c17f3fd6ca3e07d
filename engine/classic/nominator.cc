#include "engine/classic/nominator.h"

#include <algorithm>

namespace schedq {

void Nominator::Set(const PodKey& pod, std::string_view node) {
  Clear(pod);
  if (node.empty()) return;
  node_by_pod_.emplace(pod, node);
  pods_by_node_[node].push_back(pod);
}

void Nominator::Clear(const PodKey& pod) {
  const auto found = node_by_pod_.find(pod);
  if (found == node_by_pod_.end()) return;
  const auto pods = pods_by_node_.find(found->second);
  std::erase(pods->second, pod);
  if (pods->second.empty()) pods_by_node_.erase(pods);
  node_by_pod_.erase(found);
}

std::string_view Nominator::NodeOf(const PodKey& pod) const {
  const auto found = node_by_pod_.find(pod);
  return found == node_by_pod_.end() ? std::string_view() : std::string_view(found->second);
}

std::span<const PodKey> Nominator::PodsOn(std::string_view node) const {
  const auto found = pods_by_node_.find(node);
  if (found == pods_by_node_.end()) return {};
  return found->second;
}

}  // namespace schedq
