#include "bench/sim/scheduler/node_table.h"

#include <algorithm>
#include <string_view>

#include "bench/sim/scheduler/node_match.h"

namespace schedq {
namespace {

constexpr int64_t kPartsPerWhole = 1'000'000;

int64_t Amount(const ResourceList& list, std::string_view name) {
  for (const auto& [resource, amount] : list) {
    if (resource == name) return amount;
  }
  return 0;
}

// Where there is nothing of a resource, all of it counts as in use.
int64_t Share(int64_t used, int64_t limit) {
  if (limit <= 0) return kPartsPerWhole;
  return static_cast<int64_t>(static_cast<double>(used) / static_cast<double>(limit) *
                              kPartsPerWhole);
}

}  // namespace

void NodeTable::SetNode(const ClusterNodeRef& node) {
  Node& entry = nodes_[node->name];
  if (entry.node != nullptr) order_.erase({entry.share, entry.order});
  entry.node = node;
  entry.order = node->number;
  Reorder(&entry);
}

void NodeTable::RemoveNode(const std::string& name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || found->second.node == nullptr) return;
  order_.erase({found->second.share, found->second.order});
  found->second.node = nullptr;
  if (found->second.pods == 0) nodes_.erase(found);
}

void NodeTable::Assume(const ClusterPod& pod, const std::string& node) {
  Forget(pod.number);
  const auto [entry, is_new] = pods_.emplace(pod.number, PodOnNode{node, pod.requests});
  Change(entry->second, 1);
}

void NodeTable::Forget(uint64_t pod_number) {
  const auto found = pods_.find(pod_number);
  if (found == pods_.end()) return;
  Change(found->second, -1);
  pods_.erase(found);
}

void NodeTable::Change(const PodOnNode& pod, int64_t sign) {
  Node& node = nodes_[pod.node];
  if (node.node != nullptr) order_.erase({node.share, node.order});
  for (const auto& [resource, amount] : pod.requests) node.used[resource] += sign * amount;
  node.pods += sign;
  if (node.node != nullptr) {
    Reorder(&node);
  } else if (node.pods == 0) {
    nodes_.erase(pod.node);
  }
}

void NodeTable::Reorder(Node* node) {
  const ResourceList& limits = node->node->allocatable;
  int64_t share = Share(node->pods, Amount(limits, "pods"));
  for (const char* resource : {"cpu", "memory"}) {
    const auto used = node->used.find(resource);
    if (used == node->used.end()) continue;
    share = std::max(share, Share(used->second, Amount(limits, resource)));
  }
  node->share = static_cast<uint32_t>(std::min<int64_t>(share, UINT32_MAX));
  order_[{node->share, node->order}] = node;
}

NodeChoice NodeTable::Place(const ClusterPod& pod, const std::string& only_node,
                            const DeviceCheck& check) const {
  NodeChoice choice;
  for (const auto& [key, node] : order_) {
    std::optional<Obstacle> obstacle = FindObstacle(pod, *node, check);
    if (!only_node.empty() && node->node->name != only_node && !obstacle) {
      obstacle = Obstacle::kDevices;
    }
    if (!obstacle) {
      choice.node = node->node->name;
      choice.obstacles = 0;
      return choice;
    }
    choice.obstacles |= 1u << static_cast<int>(*obstacle);
  }
  return choice;
}

std::optional<Obstacle> NodeTable::FindObstacle(const ClusterPod& pod, const Node& entry,
                                                const DeviceCheck& check) const {
  const ClusterNode& node = *entry.node;
  if (node.unschedulable && !ToleratesCordon(pod)) return Obstacle::kUnschedulable;
  if (!ToleratesTaints(pod, node)) return Obstacle::kTaints;
  if (!MatchesAffinity(pod, node)) return Obstacle::kAffinity;
  if (entry.pods + 1 > Amount(node.allocatable, "pods")) return Obstacle::kResources;
  for (const auto& [resource, amount] : pod.requests) {
    if (amount == 0) continue;
    const auto used = entry.used.find(resource);
    const int64_t taken = used == entry.used.end() ? 0 : used->second;
    if (taken + amount > Amount(node.allocatable, resource)) return Obstacle::kResources;
  }
  if (check && !check(node.name)) return Obstacle::kDevices;
  return std::nullopt;
}

}  // namespace schedq
