// The scheduler's view of nodes, and its rule of placing pods.
//
// Rule: a pod goes to the feasible node with the smallest share in use; the node that appeared
// first wins a tie. The share in use is the largest of those of cpu, memory and pods, in whole
// parts per million. A node is feasible if it is schedulable (or the pod tolerates cordoned nodes),
// its taints are tolerated, its labels match, the requests fit, and the caller's own check agrees.
// When not to use it: as a model of kube-scheduler's scoring, which weighs more than that.
// Threads: one.
// Invariants:
//  1. The use of a node is the sum over the pods that were assumed on it or reported to be on it.
//  2. The order holds each node once, at its share in use.
// Cost: O(log nodes) to assume or forget; to place, the nodes before the first feasible one.
// Memory: a record a node and an entry a pod.
#pragma once

#include <cstddef>
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
#include "engine/pod.h"

namespace schedq {

// The reason why a node is not feasible, in the order of the plugins.
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
  uint32_t obstacles = 0;  // Where no node is feasible, the obstacles of all nodes, as bits.
};

class NodeTable {
 public:
  // The last check of a node that passed all others.
  using DeviceCheck = std::function<bool(const std::string& node)>;

  void SetNode(const ClusterNodeRef& node);
  void RemoveNode(const std::string& name);

  // Puts the pod on the node, or removes it. A pod is on at most one node, so a second Assume moves
  // it.
  void Assume(const ClusterPod& pod, const std::string& node);
  void Forget(uint64_t pod_number);
  bool Has(uint64_t pod_number) const { return pods_.count(pod_number) != 0; }

  // Where `only_node` is not empty, no other node is feasible. `check` may be empty.
  NodeChoice Place(const ClusterPod& pod, const std::string& only_node,
                   const DeviceCheck& check) const;

  size_t size() const { return order_.size(); }

 private:
  struct Node {
    ClusterNodeRef node;  // Null: the node is unknown, but pods may be on it.
    uint64_t order = 0;   // The place in the order of appearance.
    uint32_t share = 0;
    std::map<std::string, int64_t> used;
    int64_t pods = 0;
  };
  struct PodOnNode {
    std::string node;
    ResourceList requests;
  };
  using Key = std::pair<uint32_t, uint64_t>;  // The share in use, then the order.

  void Change(const PodOnNode& pod, int64_t sign);
  void Reorder(Node* node);
  std::optional<Obstacle> FindObstacle(const ClusterPod& pod, const Node& node,
                                       const DeviceCheck& check) const;

  std::unordered_map<std::string, Node> nodes_;
  std::map<Key, const Node*> order_;  // Known nodes only.
  std::unordered_map<uint64_t, PodOnNode> pods_;
};

}  // namespace schedq
