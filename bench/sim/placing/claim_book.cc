#include "bench/sim/placing/claim_book.h"

#include <algorithm>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/device_objects.h"
#include "bench/sim/cluster/claim_controller.h"
#include "bench/sim/devices/binding_conditions.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {
std::string WantedClaims::IdleClaim(const ClusterPod& pod) const {
  for (size_t i = 0; i < allocated.size(); ++i) {
    const ClusterClaim& claim = *allocated[i].claim;
    const auto& users = claim.reserved_for;
    const bool is_idle = claim.allocation != nullptr && claim.reserved_groups.empty() &&
                         (users.empty() || users == std::vector<uint64_t>{pod.number});
    if (keeps_away[i] && is_idle) return QualifiedName(claim.namespace_name, claim.name);
  }
  return "";
}

void ClaimBook::Apply(const ClusterChange& change) {
  const ObjectRef& after = change.objects.after;
  const std::string& name = change.objects.Latest()->name;
  const std::lock_guard lock(mutex_);
  ++version_;
  if (change.is_taint_rule) {
    if (after == nullptr) return devices_.RemoveTaintRule(name);
    return devices_.SetTaintRule(name, static_cast<const ClusterTaintRule&>(*after).rule);
  }
  switch (change.resource) {
    case Resource::kResourceClaim:
      return ApplyClaim(change);
    case Resource::kResourceSlice:
      if (after == nullptr) return devices_.RemoveSlice(name);
      return devices_.SetSlice(name, static_cast<const ClusterSlice&>(*after).slice);
    case Resource::kDeviceClass:
      if (after == nullptr) return devices_.RemoveClass(name);
      return devices_.SetClass(name, static_cast<const ClusterDeviceClass&>(*after).device_class);
    default:
      return;
  }
}

void ClaimBook::ApplyClaim(const ClusterChange& change) {
  const auto* before = static_cast<const ClusterClaim*>(change.objects.before.get());
  const auto* after = static_cast<const ClusterClaim*>(change.objects.after.get());
  const ClusterClaim& latest = after != nullptr ? *after : *before;
  const std::string name = QualifiedName(latest.namespace_name, latest.name);
  const DeviceAllocationRef was = before != nullptr ? before->allocation : nullptr;
  const DeviceAllocationRef is = after != nullptr ? after->allocation : nullptr;
  if (was != is) {
    if (was != nullptr) devices_.Release(*was);
    bool is_kept = false;
    if (is != nullptr) {
      const auto promise = promised_.extract(name);
      is_kept = !promise.empty() && *promise.mapped().allocation == *is;
      if (!promise.empty() && !is_kept) devices_.Release(*promise.mapped().allocation);
    }
    // Where the scheduler did not promise these devices, one may be taken already: the run's audit
    // reports it.
    if (is != nullptr && !is_kept) devices_.Take(*is);
  }
  if (after == nullptr) {
    claims_.erase(name);
  } else {
    claims_[name] = std::static_pointer_cast<const ClusterClaim>(change.objects.after);
  }
}

bool ClaimBook::AddExtended(const ClusterPod& pod, WantedClaims* wanted) const {
  auto spec = std::make_shared<ClaimSpec>();
  for (const ExtendedRequest& wish : pod.device_requests) {
    const std::string* const device_class = devices_.ClassOfResource(wish.resource);
    if (device_class == nullptr) return false;
    DeviceRequest request;
    request.name = wish.name;
    request.alternatives.push_back(
        {.name = wish.name, .class_name = *device_class, .count = wish.count});
    spec->requests.push_back(std::move(request));
  }
  wanted->extended = std::move(spec);
  return true;
}

uint64_t ClaimBook::BeginGroupCycle() {
  const std::lock_guard lock(mutex_);
  return ++last_group_cycle_;
}

DeviceCount ClaimBook::CountOf(const std::string& resource, const ObjectView& node) {
  const std::lock_guard lock(mutex_);
  return devices_.CountOf(resource, node);
}

bool ClaimBook::StandsFor(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  return devices_.ClassOfResource(resource) != nullptr;
}

WantedClaimsRef ClaimBook::WantedBy(const ClusterPod& pod, uint64_t group_cycle) {
  auto wanted = std::make_shared<WantedClaims>();
  wanted->group_cycle = group_cycle;
  std::vector<const ClaimSpec*> specs;
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names = ClaimNamesOf(pod);
  if (!pod.device_requests.empty() && pod.extended_claim.empty()) {
    wanted->extended_name = QualifiedName(pod.namespace_name, ExtendedClaimName(pod));
    // A binding that failed may have left it behind.
    if (claims_.count(wanted->extended_name) != 0) names.push_back(wanted->extended_name);
  }
  wanted->of_group = GroupClaimNamesOf(pod);
  if (!pod.group_name.empty()) wanted->group = QualifiedName(pod.namespace_name, pod.group_name);
  for (const std::string& name : names) {
    const auto found = claims_.find(name);
    if (found == claims_.end()) return nullptr;
    const ClusterClaimRef& claim = found->second;
    if (const auto promise = promised_.find(name); promise != promised_.end()) {
      // Else no gang whose members use one claim would ever have room for all of them.
      const bool is_shared = group_cycle != 0 && promise->second.group_cycle == group_cycle &&
                             !wanted->group.empty() && promise->second.group == wanted->group;
      if (!is_shared) return nullptr;
      wanted->allocated.push_back({claim, promise->second.allocation});
      continue;
    }
    if (claim->allocation != nullptr) {
      wanted->allocated.push_back({claim, claim->allocation});
      continue;
    }
    wanted->unallocated.push_back(claim);
    specs.push_back(&claim->spec);
  }
  const bool makes_claim =
      !wanted->extended_name.empty() && claims_.count(wanted->extended_name) == 0;
  if (makes_claim) {
    if (promised_.count(wanted->extended_name) != 0 || !AddExtended(pod, wanted.get())) {
      return nullptr;
    }
    specs.push_back(wanted->extended.get());
  }
  wanted->prepared = devices_.Prepare(specs);
  if (const auto* nodes = devices_.NodesFor(wanted->prepared)) wanted->nodes = *nodes;
  wanted->version = version_;
  wanted->keeps_away.resize(wanted->allocated.size());
  return wanted->prepared.fault.empty() ? wanted : nullptr;
}

const AllocationOutcome& ClaimBook::OfferUnderLock(WantedClaims* wanted, const ObjectView& node) {
  if (wanted->version != version_) {
    wanted->offers.clear();
    wanted->version = version_;
  }
  const auto [found, is_new] = wanted->offers.try_emplace(node.name);
  if (is_new) found->second = devices_.Allocate(wanted->prepared, node);
  if (found->second.kind == AllocationOutcome::Kind::kError) wanted->error = found->second.message;
  return found->second;
}

const AllocationOutcome& ClaimBook::OfferOf(WantedClaims* wanted, const ObjectView& node) {
  const std::lock_guard lock(mutex_);
  return OfferUnderLock(wanted, node);
}

std::optional<std::vector<ClaimDecision>> ClaimBook::Pick(WantedClaims* wanted,
                                                          const ObjectView& node) {
  const auto decide = [&](const ClusterClaimRef& claim, DeviceAllocationRef allocation) {
    ClaimDecision decision{QualifiedName(claim->namespace_name, claim->name)};
    decision.has_finalizer = claim->has_finalizer;
    decision.allocation = std::move(allocation);
    decision.tells_pod = decision.claim == wanted->extended_name;
    decision.pod_group = wanted->group;
    decision.group_cycle = wanted->group_cycle;
    const auto& of_group = wanted->of_group;
    if (std::find(of_group.begin(), of_group.end(), decision.claim) != of_group.end()) {
      const auto& groups = claim->reserved_groups;
      decision.group = wanted->group;
      // Without its devices the claim is stored anew.
      decision.is_reserved = claim->allocation != nullptr &&
                             std::find(groups.begin(), groups.end(), wanted->group) != groups.end();
    }
    return decision;
  };
  std::vector<ClaimDecision> decisions;
  for (const WantedClaims::Allocated& each : wanted->allocated) {
    const bool is_promised = each.claim->allocation == nullptr;
    decisions.push_back(decide(each.claim, is_promised ? each.allocation : nullptr));
    decisions.back().awaits_devices = HasBindingConditions(*each.allocation);
  }
  if (wanted->prepared.claims.empty()) return decisions;
  const std::lock_guard lock(mutex_);
  const AllocationOutcome& offer = OfferUnderLock(wanted, node);
  if (!offer.found()) return std::nullopt;
  for (size_t i = 0; i < wanted->unallocated.size(); ++i) {
    decisions.push_back(decide(wanted->unallocated[i],
                               std::make_shared<const DeviceAllocation>(offer.allocations[i])));
    decisions.back().awaits_devices = HasBindingConditions(offer.allocations[i]);
  }
  if (wanted->extended != nullptr) {
    ClaimDecision decision{wanted->extended_name};
    decision.allocation = std::make_shared<const DeviceAllocation>(offer.allocations.back());
    decision.tells_pod = true;
    decision.made = wanted->extended;
    decision.awaits_devices = HasBindingConditions(*decision.allocation);
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

bool ClaimBook::Promise(std::span<const ClaimDecision> claims) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < claims.size(); ++i) {
    const ClaimDecision& claim = claims[i];
    if (!claim.allocates()) continue;
    const auto known = claims_.find(claim.claim);
    const bool is_unallocated =
        claim.creates() ? known == claims_.end()
                        : known != claims_.end() && known->second->allocation == nullptr;
    const auto promise = promised_.find(claim.claim);
    if (is_unallocated && promise != promised_.end() && !claim.sharers().empty() &&
        promise->second.group == claim.sharers() &&
        promise->second.allocation == claim.allocation) {
      ++promise->second.holders;
      continue;
    }
    const bool is_free = is_unallocated && promise == promised_.end();
    if (is_free && devices_.TakeIfFree(*claim.allocation)) {
      promised_[claim.claim] = {claim.allocation, claim.sharers(), claim.group_cycle, 1};
      ++version_;
      continue;
    }
    for (const ClaimDecision& taken : claims.first(i)) ReleaseUnderLock(taken);
    return false;
  }
  return true;
}

void ClaimBook::Release(const ClaimDecision& claim) {
  if (!claim.allocates()) return;
  const std::lock_guard lock(mutex_);
  ReleaseUnderLock(claim);
}

void ClaimBook::ReleaseUnderLock(const ClaimDecision& claim) {
  const auto promise = promised_.find(claim.claim);
  // No promise, or another one: the cluster has decided on the claim meanwhile.
  if (promise == promised_.end() || promise->second.allocation != claim.allocation) return;
  if (--promise->second.holders != 0) return;
  promised_.erase(promise);
  devices_.Release(*claim.allocation);
  ++version_;
}

size_t ClaimBook::taken() const {
  const std::lock_guard lock(mutex_);
  return devices_.taken();
}

}  // namespace schedq
