// The scheduler's own view of nodes, and the rule by which it places pods.
//
// The rule: among the feasible nodes the one with the least in use goes first, ties by the order in
// which nodes appeared. In use is the largest share that any of cpu, memory and pods has, in whole
// parts per million. A node is feasible if it is open (or the pod tolerates cordoned nodes), its
// taints are tolerated, its labels match, the requests fit, and the caller's own check agrees.
// When not to use it: as a model of kube-scheduler's scoring, which weighs more than that.
// Threads: one.
// Invariants:
//  1. What is in use on a node is the sum over the pods that were assumed or told to be on it.
//  2. The order holds each node once, at its share in use.
// Cost: O(log nodes) to assume or forget; to place, the nodes before the first feasible one.
// Memory: a record a node and an entry a pod.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

// Why a node does not do, in the order in which plugins are asked.
enum class Obstacle : uint8_t {
  kUnschedulable,
  kTaints,
  kAffinity,
  kResources,
  kDevices,
};
inline constexpr int kObstacleCount = 5;

struct NodeChoice {
  std::string node;        // Empty: no node is feasible.
  uint32_t obstacles = 0;  // Bits of Obstacle: those met on any node, when none is feasible.
};

class NodeTable {
 public:
  // The last check of a node that passed all others.
  using DeviceCheck = std::function<bool(const std::string& node)>;

  void SetNode(const ClusterNodeRef& node);
  void RemoveNode(const std::string& name);

  // Puts the pod on the node, or takes it away. A pod is on one node at most: told again, it moves.
  void Assume(const ClusterPod& pod, const std::string& node);
  void Forget(uint64_t pod_number);
  bool Has(uint64_t pod_number) const { return pods_.count(pod_number) != 0; }

  // `only_node` not empty: no other node does. `check` may be empty.
  NodeChoice Place(const ClusterPod& pod, const std::string& only_node,
                   const DeviceCheck& check) const;

  size_t size() const { return order_.size(); }

 private:
  struct Node {
    ClusterNodeRef node;  // Null: unknown; pods may be on it all the same.
    uint64_t order = 0;   // In which it appeared.
    uint32_t share = 0;
    std::map<std::string, int64_t> used;
    int64_t pods = 0;
  };
  struct PodOnNode {
    std::string node;
    ResourceList requests;
  };
  using Key = std::pair<uint32_t, uint64_t>;  // Share in use, order.

  void Change(const PodOnNode& pod, int64_t sign);
  void Reorder(Node* node);
  std::optional<Obstacle> FindObstacle(const ClusterPod& pod, const Node& node,
                                       const DeviceCheck& check) const;

  std::unordered_map<std::string, Node> nodes_;
  std::map<Key, const Node*> order_;  // Known nodes only.
  std::unordered_map<uint64_t, PodOnNode> pods_;
};

}  // namespace schedq
