// A pod as the cluster knows it: one immutable version of the API object, shared by reference.
// It has only what scheduling reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/inline_vector.h"

namespace schedq {

// Sorted by key; few entries, so a vector beats a map.
using Labels = std::vector<std::pair<std::string, std::string>>;

// The value of `key`, or "" when absent.
std::string_view LabelValue(const Labels& labels, std::string_view key);
void SetLabel(Labels* labels, const std::string& key, const std::string& value);

// A named quantity; cpu in millicores, memory in bytes, others in units. Sorted by name.
using ResourceList = std::vector<std::pair<std::string, int64_t>>;

struct Toleration {
  std::string key;  // Empty with `exists`: tolerates every taint.
  std::string value;
  std::string effect;   // Empty: every effect.
  bool exists = false;  // Operator Exists instead of Equal.
  bool operator==(const Toleration&) const = default;
};

// A claim that the control plane generated from a template, from the pod's status.
struct GeneratedClaim {
  std::string pod_claim_name;  // The entry of the pod's spec that it stands for.
  std::string claim_name;      // Empty: none was needed.
  bool operator==(const GeneratedClaim&) const = default;
};

struct PodCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  bool operator==(const PodCondition&) const = default;
};

// A required node-affinity term: the node's label `key` has one of `values`. It stands beside what
// the pod's rules require (PodRules), for those who know no more of a pod than such terms.
struct NodeAffinityTerm {
  std::string key;
  std::vector<std::string> values;
  bool operator==(const NodeAffinityTerm&) const = default;
};

struct PodRules;  // pod_rules.h
using PodRulesRef = std::shared_ptr<const PodRules>;
struct PodVolumes;  // pod_volumes.h
using PodVolumesRef = std::shared_ptr<const PodVolumes>;

// Mostly one name. It lies in the pod itself, because each event that is narrowed to a pod reads
// it.
using ClaimNames = InlineVector<std::string, 1>;

// The order of the members decides which cache lines are read. What an event reads of many pods,
// their claims, lies in one line. What an entry into the queue also reads lies in the lines before
// and after it.
struct Pod {
  Labels labels;
  std::vector<std::string> scheduling_gates;
  ClaimNames claims;                             // ResourceClaims named in spec, of its namespace.
  std::vector<GeneratedClaim> generated_claims;  // From status.
  std::string namespace_name;
  std::vector<std::string> claim_templates;  // Entries of spec whose claim is generated.
  int32_t priority = 0;
  std::string name;
  std::string uid;
  std::vector<Toleration> tolerations;
  std::vector<NodeAffinityTerm> node_affinity;  // All terms must hold.
  Labels node_selector;
  ResourceList requests;
  std::vector<PodCondition> conditions;
  std::string nominated_node_name;
  std::string node_name;   // Not empty: bound.
  std::string group_name;  // Of its PodGroup, in its namespace; empty: it is no member.
  PodRulesRef rules;       // Null: it has none.
  PodVolumesRef volumes;   // Null: it has none.
};

using PodRef = std::shared_ptr<const Pod>;

// "namespace/name"; of an object without a namespace its name.
std::string QualifiedName(std::string_view namespace_name, std::string_view name);
inline std::string QualifiedName(const Pod& pod) {
  return QualifiedName(pod.namespace_name, pod.name);
}

// The size of the reference count that precedes a pod. Allocators begin a cache line at the count.
inline constexpr size_t kPodCountBytes = 16;
static_assert(kPodCountBytes + sizeof(Pod::labels) + sizeof(Pod::scheduling_gates) == 64 &&
                  sizeof(Pod::claims) + sizeof(Pod::generated_claims) <= 64,
              "what an event reads of a pod lies in one line");

}  // namespace schedq
