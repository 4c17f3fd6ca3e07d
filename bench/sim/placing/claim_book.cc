#include "bench/sim/placing/claim_book.h"

#include <memory>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/claim_controller.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {
namespace {

std::vector<const ClaimSpec*> SpecsOf(const WantedClaims& wanted) {
  std::vector<const ClaimSpec*> specs;
  specs.reserve(wanted.unallocated.size());
  for (const ClusterClaimRef& claim : wanted.unallocated) specs.push_back(&claim->spec);
  return specs;
}

}  // namespace

void ClaimBook::Apply(const ClusterChange& change) {
  const ObjectRef& before = change.objects.before;
  const ObjectRef& after = change.objects.after;
  const std::lock_guard lock(mutex_);
  switch (change.resource) {
    case Resource::kResourceClaim:
      return ApplyClaim(change);
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

void ClaimBook::ApplyClaim(const ClusterChange& change) {
  const auto* before = static_cast<const ClusterClaim*>(change.objects.before.get());
  const auto* after = static_cast<const ClusterClaim*>(change.objects.after.get());
  const ClusterClaim& latest = after != nullptr ? *after : *before;
  const std::string name = QualifiedName(latest.namespace_name, latest.name);
  const bool was_allocated = before != nullptr && before->allocated;
  const bool is_allocated = after != nullptr && after->allocated;
  if (was_allocated && !is_allocated) devices_.Release(before->devices);
  if (is_allocated && !was_allocated) {
    const auto promise = promised_.extract(name);
    const bool is_kept = !promise.empty() && promise.mapped() == after->devices;
    if (!promise.empty() && !is_kept) devices_.Release(promise.mapped());
    // Where the scheduler did not promise these devices, one may be taken already: the run's audit
    // reports it.
    if (!is_kept) static_cast<void>(devices_.Take(after->devices));
  }
  if (after == nullptr) {
    claims_.erase(name);
  } else {
    claims_[name] = std::static_pointer_cast<const ClusterClaim>(change.objects.after);
  }
}

std::optional<WantedClaims> ClaimBook::WantedBy(const ClusterPod& pod) const {
  WantedClaims wanted;
  const std::lock_guard lock(mutex_);
  for (const std::string& name : ClaimNamesOf(pod)) {
    const auto found = claims_.find(name);
    if (found == claims_.end() || promised_.count(name) != 0) return std::nullopt;
    const ClusterClaimRef& claim = found->second;
    if (!claim->allocated) {
      wanted.unallocated.push_back(claim);
      continue;
    }
    wanted.allocated.push_back(name);
    if (wanted.only_node.empty()) wanted.only_node = claim->node_name;
    if (wanted.only_node != claim->node_name) return std::nullopt;
  }
  return wanted;
}

bool ClaimBook::HasDevicesFor(const WantedClaims& wanted, const std::string& node) const {
  const std::lock_guard lock(mutex_);
  return devices_.HasFor(SpecsOf(wanted), node);
}

std::optional<std::vector<ClaimDecision>> ClaimBook::Pick(const WantedClaims& wanted,
                                                          const std::string& node) const {
  std::vector<ClaimDecision> decisions;
  for (const std::string& name : wanted.allocated) decisions.push_back({name, false, {}});
  if (wanted.unallocated.empty()) return decisions;
  const std::lock_guard lock(mutex_);
  auto picked = devices_.Pick(SpecsOf(wanted), node);
  if (!picked) return std::nullopt;
  for (size_t i = 0; i < wanted.unallocated.size(); ++i) {
    const ClusterClaim& claim = *wanted.unallocated[i];
    decisions.push_back(
        {QualifiedName(claim.namespace_name, claim.name), true, std::move((*picked)[i])});
  }
  return decisions;
}

bool ClaimBook::Promise(std::span<const ClaimDecision> claims) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < claims.size(); ++i) {
    const ClaimDecision& claim = claims[i];
    if (!claim.allocates) continue;
    const auto known = claims_.find(claim.claim);
    const bool is_free =
        known != claims_.end() && !known->second->allocated && promised_.count(claim.claim) == 0;
    if (is_free && devices_.Take(claim.devices)) {
      promised_[claim.claim] = claim.devices;
      continue;
    }
    for (const ClaimDecision& taken : claims.first(i)) {
      if (taken.allocates && promised_.erase(taken.claim) != 0) devices_.Release(taken.devices);
    }
    return false;
  }
  return true;
}

void ClaimBook::Release(std::span<const ClaimDecision> claims) {
  const std::lock_guard lock(mutex_);
  for (const ClaimDecision& claim : claims) {
    if (!claim.allocates) continue;
    // No promise: the cluster has decided on the claim meanwhile.
    if (promised_.erase(claim.claim) != 0) devices_.Release(claim.devices);
  }
}

}  // namespace schedq
