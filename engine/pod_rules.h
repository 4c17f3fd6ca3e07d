// What a pod says of the nodes and pods that it goes with, beyond its node selector.
//
// Purpose: the parts of a pod's spec that few pods have and that only some plugins read. A pod
// refers to them (Pod::rules), and pods that were made from one template share them.
// Threads: immutable once made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/label_selector.h"

namespace schedq {

// A requirement on a node's label, or on its name (`is_field`).
struct NodeRequirement : LabelRequirement {
  bool is_field = false;  // The requirement is on metadata.name instead of a label.
  bool operator==(const NodeRequirement&) const = default;
};
// All requirements of a term must hold. An empty term never holds.
using NodeTerm = std::vector<NodeRequirement>;

struct PreferredNodeTerm {
  int32_t weight = 0;
  NodeTerm term;
  bool operator==(const PreferredNodeTerm&) const = default;
};

// Pods whose neighbour a pod wants to be, or wants not to be. Neighbours are pods on nodes that
// have the same value of the label `topology_key`.
struct PodTerm {
  std::optional<LabelSelector> selector;  // nullopt: it selects no pod.
  // Of the pods: those that are named, and those whose labels match. Without either, the namespace
  // of the pod that has the term.
  std::vector<std::string> namespaces;
  std::optional<LabelSelector> namespace_selector;
  std::string topology_key;
  bool operator==(const PodTerm&) const = default;
};

struct PreferredPodTerm {
  int32_t weight = 0;
  PodTerm term;
  bool operator==(const PreferredPodTerm&) const = default;
};

// How evenly pods of a selector, in the pod's namespace, are to lie over the values of a label of
// nodes.
struct SpreadRule {
  bool is_required = true;  // DoNotSchedule; else ScheduleAnyway.
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  std::string topology_key;
  std::optional<LabelSelector> selector;      // nullopt: it selects no pod.
  std::vector<std::string> match_label_keys;  // Only pods that have the pod's own values of these.
  bool honors_affinity = true;  // Nodes that the pod's node affinity excludes do not count.
  bool honors_taints = false;   // Nor do those with taints that it does not tolerate.
  bool operator==(const SpreadRule&) const = default;
};

// A port of the node that a container takes.
struct HostPort {
  std::string ip;        // "0.0.0.0": all of the node's.
  std::string protocol;  // TCP, UDP or SCTP.
  int64_t port = 0;
  bool operator==(const HostPort&) const = default;
};

struct PodRules {
  std::vector<NodeTerm> node_terms = {};  // At least one must hold; empty: no requirement.
  std::vector<PreferredNodeTerm> preferred_node_terms = {};
  std::vector<PodTerm> affinity = {};  // One pod must match all of them.
  std::vector<PodTerm> anti_affinity =
      {};  // No pod may match any of them, nor the other way round.
  std::vector<PreferredPodTerm> preferred_affinity = {};
  std::vector<PreferredPodTerm> preferred_anti_affinity = {};
  std::vector<SpreadRule> spread = {};
  std::vector<HostPort> host_ports = {};
  // The node must declare all of these; in ascending order.
  std::vector<std::string> node_features = {};
  bool operator==(const PodRules&) const = default;
};

}  // namespace schedq
