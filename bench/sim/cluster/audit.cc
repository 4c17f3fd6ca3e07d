#include "bench/sim/cluster/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "bench/sim/cluster/audit_devices.h"
#include "bench/sim/cluster/audit_groups.h"
#include "bench/sim/cluster/audit_rules.h"
#include "bench/sim/cluster/audit_volumes.h"
#include "bench/sim/cluster/claim_controller.h"
#include "bench/sim/devices/allocation.h"
#include "engine/pod.h"

namespace schedq {
namespace {

using Amounts = std::map<std::string, int64_t>;

void AddRequests(const Pod& pod, Amounts* used) {
  for (const auto& [resource, amount] : pod.requests) (*used)[resource] += amount;
  ++(*used)["pods"];
}

void AuditNodes(const Cluster& cluster, std::vector<std::string>* faults) {
  std::map<std::string, Amounts> used;  // The amounts in use, by node.
  std::set<std::string> with_grown_pods;
  for (const auto& [number, pod] : cluster.pods()) {
    if (pod->node_name.empty()) continue;
    AddRequests(*pod, &used[pod->node_name]);
    if (pod->has_grown) with_grown_pods.insert(pod->node_name);
  }
  for (const auto& [node_name, amounts] : used) {
    const ClusterNodeRef node = cluster.FindNode(node_name);
    if (node == nullptr) continue;  // The node was deleted before its pods.
    // No scheduler answers for what became too much afterwards.
    if (node->has_shrunk || with_grown_pods.count(node_name) != 0) continue;
    const Amounts has(node->allocatable.begin(), node->allocatable.end());
    for (const auto& [resource, amount] : amounts) {
      const auto found = has.find(resource);
      const int64_t limit = found == has.end() ? 0 : found->second;
      if (amount <= limit) continue;
      faults->push_back(fmt::format("node {} is overcommitted: {} {} in use of {}", node_name,
                                    amount, resource, limit));
    }
  }
}

// Whether the claim is the pod's, or its group's.
bool IsReservedFor(const ClusterClaim& claim, const ClusterPod& pod) {
  const auto& pods = claim.reserved_for;
  const auto& groups = claim.reserved_groups;
  const std::string group = QualifiedName(pod.namespace_name, pod.group_name);
  return std::find(pods.begin(), pods.end(), pod.number) != pods.end() ||
         (!pod.group_name.empty() &&
          std::find(groups.begin(), groups.end(), group) != groups.end());
}

// Checks that a bound pod's claims are allocated on its node and reserved for it. No scheduler
// answers for what a client bound or took away.
void AuditClaimsOf(const Cluster& cluster, const ClusterPod& pod,
                   std::vector<std::string>* faults) {
  const ClusterNodeRef node = cluster.FindNode(pod.node_name);
  for (const std::string& name : ClaimNamesOf(pod)) {
    const ClusterClaimRef claim = cluster.FindClaim(name);
    const bool has_devices = claim != nullptr && claim->allocation != nullptr;
    // Of a node that was deleted before its pods nothing else is known.
    if (has_devices && (node == nullptr || IsAvailableOn(*claim->allocation, *node))) {
      const bool is_excused = claim->was_cleared || !pod.spec().pod.node_name.empty();
      if (is_excused || IsReservedFor(*claim, pod)) continue;
      faults->push_back(fmt::format("claim {} is not reserved for pod {}/{}, which is on {}", name,
                                    pod.namespace_name, pod.name, pod.node_name));
      continue;
    }
    faults->push_back(fmt::format("pod {}/{} is on {} without its claim {}", pod.namespace_name,
                                  pod.name, pod.node_name, name));
  }
}

}  // namespace

std::vector<std::string> AuditCluster(const Cluster& cluster, const AuditQuestions& questions) {
  std::vector<std::string> faults;
  AuditNodes(cluster, &faults);
  AuditDevices(cluster, &faults);
  faults.insert(faults.end(), cluster.claim_faults().begin(), cluster.claim_faults().end());
  AuditRules(cluster, &faults);
  if (questions.knows_groups) AuditGroups(cluster, questions, &faults);
  AuditVolumes(cluster, &faults);
  for (const auto& [number, pod] : cluster.pods()) {
    if (!pod->node_name.empty()) {
      AuditClaimsOf(cluster, *pod, &faults);
    } else if (!pod->deleting && !questions.is_known(*pod)) {
      faults.push_back(fmt::format("pod {}/{} is lost: neither bound nor known to the scheduler",
                                   pod->namespace_name, pod->name));
    }
  }
  return faults;
}

}  // namespace schedq
