#include "bench/sim/scheduler/scheduler_cache.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/claim_controller.h"
#include "engine/base/result.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

size_t NodesToFind(size_t nodes) {
  constexpr size_t kNodesMin = 100;
  constexpr size_t kPercentMin = 5;
  if (nodes < kNodesMin) return nodes;
  const size_t less = nodes / 125;
  const size_t percent = less < 50 - kPercentMin ? 50 - less : kPercentMin;
  return std::max(kNodesMin, nodes * percent / 100);
}

void SchedulerCache::Apply(const ClusterChange& change) {
  const ObjectRef& before = change.objects.before;
  const ObjectRef& after = change.objects.after;
  switch (change.resource) {
    case Resource::kPod:
      return ApplyPod(change);
    case Resource::kResourceClaim:
      return ApplyClaim(change);
    case Resource::kNode:
      if (after == nullptr) return nodes_.RemoveNode(before->name);
      return nodes_.SetNode(std::static_pointer_cast<const ClusterNode>(after));
    case Resource::kResourceSlice:
      if (before != nullptr) devices_.RemoveSlice(static_cast<const ClusterSlice&>(*before));
      if (after != nullptr) devices_.AddSlice(static_cast<const ClusterSlice&>(*after));
      return;
    case Resource::kDeviceClass:
      if (after == nullptr) return devices_.RemoveClass(before->name);
      return devices_.AddClass(after->name, static_cast<const ClusterDeviceClass&>(*after).driver);
    default:
      return;
  }
}

void SchedulerCache::ApplyPod(const ClusterChange& change) {
  if (change.pod_after == nullptr) {
    nodes_.Forget(change.pod_before->number);
    return;
  }
  const ClusterPod& pod = *change.pod_after;
  if (pod.node_name.empty()) return;
  // Its promises are in its claims by now, or will be when the informers deliver these.
  assumed_.erase(pod.number);
  nodes_.Assume(pod, pod.node_name);
}

void SchedulerCache::ApplyClaim(const ClusterChange& change) {
  const auto* before = static_cast<const ClusterClaim*>(change.objects.before.get());
  const auto* after = static_cast<const ClusterClaim*>(change.objects.after.get());
  const std::string name = QualifiedName((after != nullptr ? after : before)->namespace_name,
                                         (after != nullptr ? after : before)->name);
  const bool was_allocated = before != nullptr && before->allocated;
  const bool is_allocated = after != nullptr && after->allocated;
  if (was_allocated && !is_allocated) devices_.Release(before->devices);
  if (is_allocated && !was_allocated && promised_.erase(name) == 0) {
    // The scheduler did not promise these devices. If one is taken already, the run's audit reports
    // it.
    static_cast<void>(devices_.Take(after->devices));
  }
  if (after == nullptr) {
    claims_.erase(name);
  } else {
    claims_[name] = std::static_pointer_cast<const ClusterClaim>(change.objects.after);
  }
}

std::optional<SchedulerCache::Wanted> SchedulerCache::ClaimsOf(const ClusterPod& pod) const {
  Wanted wanted;
  for (const std::string& name : ClaimNamesOf(pod)) {
    const auto found = claims_.find(name);
    if (found == claims_.end() || promised_.count(name) != 0) return std::nullopt;
    const ClusterClaim& claim = *found->second;
    if (!claim.allocated) {
      wanted.unallocated.push_back(&claim);
      continue;
    }
    wanted.allocated.push_back(name);
    if (wanted.only_node.empty()) wanted.only_node = claim.node_name;
    if (wanted.only_node != claim.node_name) return std::nullopt;
  }
  return wanted;
}

Decision SchedulerCache::Decide(const ClusterPod& pod) const {
  Decision decision;
  decision.nodes_looked_at = nodes_.size();
  const std::optional<Wanted> wanted = ClaimsOf(pod);
  if (!wanted) {
    decision.nodes_looked_at = 0;
    decision.obstacles = 1u << static_cast<int>(Obstacle::kDevices);
    return decision;
  }
  std::vector<const ClaimSpec*> specs;
  for (const ClusterClaim* claim : wanted->unallocated) specs.push_back(&claim->spec);
  NodeTable::DeviceCheck check;
  if (!specs.empty()) {
    check = [&](const std::string& node) { return devices_.Pick(specs, node).has_value(); };
  }
  const NodeChoice choice = nodes_.Place(pod, wanted->only_node, check);
  decision.obstacles = choice.obstacles;
  if (choice.node.empty()) return decision;
  decision.node = choice.node;
  decision.nodes_looked_at = NodesToFind(nodes_.size());
  for (const std::string& name : wanted->allocated) decision.claims.push_back({name, false, {}});
  if (specs.empty()) return decision;
  auto picked = devices_.Pick(specs, decision.node);
  for (size_t i = 0; i < specs.size(); ++i) {
    const ClusterClaim& claim = *wanted->unallocated[i];
    decision.claims.push_back(
        {QualifiedName(claim.namespace_name, claim.name), true, std::move((*picked)[i])});
  }
  return decision;
}

void SchedulerCache::Assume(const ClusterPod& pod, const Decision& decision) {
  nodes_.Assume(pod, decision.node);
  assumed_.insert(pod.number);
  for (const ClaimDecision& claim : decision.claims) {
    if (!claim.allocates) continue;
    const bool taken = devices_.Take(claim.devices);
    SCHEDQ_CHECK(taken, "what Decide picks is free");
    promised_[claim.claim] = claim.devices;
  }
}

void SchedulerCache::Forget(uint64_t pod_number, const Decision& decision, size_t stored) {
  nodes_.Forget(pod_number);
  assumed_.erase(pod_number);
  for (size_t i = stored; i < decision.claims.size(); ++i) {
    const ClaimDecision& claim = decision.claims[i];
    if (!claim.allocates) continue;
    devices_.Release(claim.devices);
    promised_.erase(claim.claim);
  }
}

}  // namespace schedq
