#include "bench/sim/cluster/audit.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>

#include "bench/sim/cluster/audit_rules.h"
#include "bench/sim/cluster/claim_controller.h"
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
  for (const auto& [number, pod] : cluster.pods()) {
    if (!pod->node_name.empty()) AddRequests(*pod, &used[pod->node_name]);
  }
  for (const auto& [node_name, amounts] : used) {
    const ClusterNodeRef node = cluster.FindNode(node_name);
    if (node == nullptr) continue;  // The node was deleted before its pods.
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

void AuditDevices(const Cluster& cluster, std::vector<std::string>* faults) {
  std::map<DeviceName, std::string> holders;
  for (const auto& [name, claim] : cluster.claims()) {
    for (const DeviceName& device : claim->devices) {
      const auto [holder, is_new] = holders.emplace(device, name);
      if (is_new) continue;
      faults->push_back(
          fmt::format("device {} is given twice: to {} and {}", device, holder->second, name));
    }
  }
}

// Checks that a bound pod's claims are allocated on its node and reserved for it.
void AuditClaimsOf(const Cluster& cluster, const ClusterPod& pod,
                   std::vector<std::string>* faults) {
  for (const std::string& name : ClaimNamesOf(pod)) {
    const ClusterClaimRef claim = cluster.FindClaim(name);
    if (claim != nullptr && claim->node_name == pod.node_name) continue;
    faults->push_back(fmt::format("pod {}/{} is on {} without its claim {}", pod.namespace_name,
                                  pod.name, pod.node_name, name));
  }
}

}  // namespace

std::vector<std::string> AuditCluster(const Cluster& cluster,
                                      const std::function<bool(const ClusterPod&)>& is_known) {
  std::vector<std::string> faults;
  AuditNodes(cluster, &faults);
  AuditDevices(cluster, &faults);
  AuditRules(cluster, &faults);
  for (const auto& [number, pod] : cluster.pods()) {
    if (!pod->node_name.empty()) {
      AuditClaimsOf(cluster, *pod, &faults);
    } else if (!pod->deleting && !is_known(*pod)) {
      faults.push_back(fmt::format("pod {}/{} is lost: neither bound nor known to the scheduler",
                                   pod->namespace_name, pod->name));
    }
  }
  return faults;
}

}  // namespace schedq
