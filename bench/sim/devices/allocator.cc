#include "bench/sim/devices/allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/format/objects/device_objects.h"
#include "bench/sim/devices/capacity_policy.h"
#include "engine/object.h"
#include "engine/pod_rules.h"
#include "hints/plugins/node_rules.h"
#include "hints/plugins/tolerations.h"

namespace schedq {
namespace {

// Of one pod. The search goes one deeper with each claim, request and device.
constexpr size_t kClaimsMax = 64;

constexpr const char* kTimedOut = "timed out trying to allocate devices";

bool KeepsAway(const Taint& taint, const ExactRequest& wish) {
  return (taint.effect == "NoSchedule" || taint.effect == "NoExecute") &&
         !ToleratesTaint(wish.tolerations, taint);
}

bool Selects(const std::string& wanted, const std::string& present) {
  return wanted.empty() || wanted == present;
}

}  // namespace

bool IsAvailableOn(const DeviceAllocation& allocation, const ObjectView& node) {
  if (!allocation.node_name.empty()) return node.name == allocation.node_name;
  return allocation.node_term.empty() || MeetsTerm(allocation.node_term, node);
}

Allocator::Step Allocator::Fail(std::string message) {
  message_ = std::move(message);
  return Step::kError;
}

void Allocator::Begin(const PreparedClaims& claims, const ObjectView& node) {
  claims_ = &claims;
  sight_ = &tools_.catalog->SightOf(node);
  if (wishes_.size() < claims.wish_count) wishes_.resize(claims.wish_count);
  for (size_t i = 0; i < claims.wish_count; ++i) {
    wishes_[i].candidates.clear();
    wishes_[i].scanned = 0;
    wishes_[i].has_error = false;
  }
  if (constraints_.size() < claims.constraints.size()) {
    constraints_.resize(claims.constraints.size());
  }
  for (ConstraintState& each : constraints_) {
    each.common.clear();
    each.distinct.clear();
  }
  pools_.assign(sight_->pools.size(), {});
  given_.clear();
  given_to_.assign(claims.claims.size(), 0);
  marks_.resize(std::max(marks_.size(), tools_.uses->size()));
  if (++epoch_ == 0) {
    std::fill(marks_.begin(), marks_.end(), 0);
    epoch_ = 1;
  }
  total_steps_ += std::exchange(steps_, 0);
  message_.clear();
}

AllocationOutcome Allocator::Allocate(const PreparedClaims& claims, const ObjectView& node) {
  using Kind = AllocationOutcome::Kind;
  if (!claims.fault.empty()) return {Kind::kError, {}, claims.fault};
  Begin(claims, node);
  if (auto fault = CheckClaims()) return {Kind::kError, {}, std::move(*fault)};
  const Step step = Next({}, false, 0);
  if (step == Step::kError) return {Kind::kError, {}, message_};
  if (step != Step::kFound) {
    return {Kind::kNone, {}, sight_->has_fault ? "invalid resource pools were encountered" : ""};
  }
  AllocationOutcome outcome{Kind::kFound, {}, ""};
  for (size_t i = 0; i < claims.claims.size(); ++i) {
    outcome.allocations.push_back(ResultOf(i, node));
  }
  return outcome;
}

std::optional<std::string> Allocator::CheckClaims() {
  if (claims_->claims.size() > kClaimsMax) {
    return fmt::format("{} claims are to be allocated for one pod, expected at most {}",
                       claims_->claims.size(), kClaimsMax);
  }
  for (const PreparedClaims::Claim& claim : claims_->claims) {
    int64_t least = 0;
    for (size_t i = 0; i < claim.requests.size(); ++i) {
      int64_t least_of_request = INT64_MAX;
      for (const PreparedClaims::Wish& wish : claim.requests[i]) {
        WishState& state = wishes_[wish.number];
        state.needed = static_cast<size_t>(wish.spec->count);
        if (wish.spec->wants_all) {
          if (auto fault = FindAll(wish)) return fault;
          state.needed = state.candidates.size();
        }
        least_of_request = std::min(least_of_request, static_cast<int64_t>(state.needed));
      }
      least += least_of_request;
    }
    if (least <= kDevicesOfClaimMax) continue;
    return fmt::format("the number of requested devices {} exceeds the claim limit of {}", least,
                       kDevicesOfClaimMax);
  }
  return std::nullopt;
}

// Whether they are in use is not asked here: all are wanted.
std::optional<std::string> Allocator::FindAll(const PreparedClaims::Wish& wish) {
  for (const DeviceCatalog::SeenPool& pool : sight_->pools) {
    if (pool.Gives()) continue;
    return fmt::format("request {} asks for all devices, but resource pool {}/{} is {}",
                       wish.spec->name, pool.pool->driver, pool.pool->name,
                       pool.is_incomplete ? "being updated" : "invalid");
  }
  WishState& state = wishes_[wish.number];
  for (uint32_t i = 0; i < sight_->devices.size(); ++i) {
    const Step selected = IsSelected(wish, SeenAt(i));
    if (selected == Step::kError) return message_;
    if (selected == Step::kNone) continue;
    const SliceDevice& device = *ListingOf(SeenAt(i).listing).spec;
    if (features_.consumable_capacity) {
      const CapacityFit fit =
          FitsCapacity(device, wish.spec->capacity, {}, {}, features_.fractional_ranges);
      if (fit == CapacityFit::kNotRepresentable) {
        return "request " + wish.spec->name + " asks for a capacity beyond 64 bits";
      }
      if (fit == CapacityFit::kLacks) continue;
    }
    state.candidates.push_back({i});
  }
  return std::nullopt;
}

Allocator::Step Allocator::Next(Place place, bool in_alternative, size_t from) {
  if (++steps_ > steps_max_) return Fail(kTimedOut);
  if (place.claim == claims_->claims.size()) return Step::kFound;
  const PreparedClaims::Claim& claim = claims_->claims[place.claim];
  if (place.request == claim.requests.size()) {
    const Step step = Next({.claim = place.claim + 1}, false, 0);
    // Other devices for this claim make no difference to the next one's number, but alternatives
    // of its own may be smaller: the search goes on.
    return step == Step::kTooMany ? Step::kNone : step;
  }
  if (!in_alternative && claim.spec->requests[place.request].is_list) {
    return NextAlternative(place);
  }
  const PreparedClaims::Wish& wish = claim.requests[place.request][place.alternative];
  const WishState& state = wishes_[wish.number];
  if (wish.spec->wants_all && state.candidates.empty()) return Step::kNone;
  if (place.device == state.needed) {
    return Next({.claim = place.claim, .request = place.request + 1}, false, 0);
  }
  const auto missing = static_cast<int64_t>(state.needed - place.device);
  if (given_to_[place.claim] + missing > kDevicesOfClaimMax) return Step::kTooMany;
  if (wish.spec->wants_all) return GiveAll(place, wish);
  return GiveOne(place, wish, in_alternative, from);
}

Allocator::Step Allocator::NextAlternative(Place place) {
  const auto& alternatives = claims_->claims[place.claim].requests[place.request];
  bool are_all_too_many = true;
  for (size_t i = 0; i < alternatives.size(); ++i) {
    place.alternative = i;
    const Step step = Next(place, true, 0);
    if (step == Step::kTooMany) continue;
    if (step != Step::kNone) return step;
    are_all_too_many = false;
  }
  return are_all_too_many ? Step::kTooMany : Step::kNone;
}

// The order in which all devices are given makes no difference, so there is nothing else to try.
Allocator::Step Allocator::GiveAll(const Place& place, const PreparedClaims::Wish& wish) {
  const Step given = Give(place, wish, place.device, true);
  if (given != Step::kFound) return given;
  Place next = place;
  ++next.device;
  const Step step =
      Next(next, claims_->claims[place.claim].spec->requests[place.request].is_list, 0);
  if (step != Step::kFound) TakeBackLast();
  return step;
}

Allocator::Step Allocator::GiveOne(const Place& place, const PreparedClaims::Wish& wish,
                                   bool in_alternative, size_t from) {
  const WishState& state = wishes_[wish.number];
  const size_t missing = state.needed - place.device;
  for (size_t i = from; Scan(wish, i); ++i) {
    const bool is_complete = state.scanned == sight_->devices.size() && !state.has_error;
    if (is_complete && state.candidates.size() - i < missing) return Step::kNone;
    // Asked again, it says which error it was.
    if (state.candidates[i].is_error) return Examine(wish, state.candidates[i].seen);
    // What cannot be given costs as much as what can.
    if (++steps_ > steps_max_) return Fail(kTimedOut);
    const Step given = Give(place, wish, i, false);
    if (given == Step::kError) return given;
    if (given == Step::kNone) continue;
    Place next = place;
    ++next.device;
    const Step step = Next(next, in_alternative, i + 1);
    if (step == Step::kFound) return step;
    TakeBackLast();
    if (step != Step::kNone) return step;
  }
  return Step::kNone;
}

bool Allocator::Scan(const PreparedClaims::Wish& wish, size_t number) {
  WishState& state = wishes_[wish.number];
  while (state.candidates.size() <= number) {
    if (state.scanned == sight_->devices.size()) return false;
    const uint32_t seen = state.scanned++;
    const Step step = Examine(wish, seen);
    if (step == Step::kNone) continue;
    state.has_error = state.has_error || step == Step::kError;
    state.candidates.push_back({seen, step == Step::kError});
  }
  return true;
}

Allocator::Step Allocator::Examine(const PreparedClaims::Wish& wish, uint32_t place) {
  const DeviceCatalog::SeenDevice& seen = SeenAt(place);
  const DeviceCatalog::Listing& listing = ListingOf(seen.listing);
  const DeviceUses::Use& use = (*tools_.uses)[listing.device];
  const bool is_in_use = use.whole != 0 || (!features_.consumable_capacity && use.shares != 0);
  if (is_in_use && !wish.spec->has_admin_access) return Step::kNone;
  const Step selected = IsSelected(wish, seen);
  if (selected != Step::kFound) return selected;
  const SliceDevice& device = *listing.spec;
  if (features_.consumable_capacity) {
    const CapacityFit fit =
        FitsCapacity(device, wish.spec->capacity, use.consumed, {}, features_.fractional_ranges);
    if (fit == CapacityFit::kNotRepresentable) {
      return Fail("request " + wish.spec->name + " asks for a capacity beyond 64 bits");
    }
    if (fit == CapacityFit::kLacks) return Step::kNone;
  }
  if (!features_.partitionable_devices && !device.counter_uses.empty()) return Step::kNone;
  return IsTainted(*wish.spec, listing) ? Step::kNone : Step::kFound;
}

Allocator::Step Allocator::IsSelected(const PreparedClaims::Wish& wish,
                                      const DeviceCatalog::SeenDevice& seen) {
  const DeviceCatalog::Listing& listing = ListingOf(seen.listing);
  if (!features_.HaveBindingConditions() && !listing.spec->binding_conditions.empty()) {
    return Step::kNone;
  }
  for (const SelectorId selector : wish.selectors) {
    switch (tools_.matches->Ask(selector, seen.listing, listing)) {
      case SelectorAnswer::kMatch:
        continue;
      case SelectorAnswer::kError:
        return Fail(fmt::format("request {}: device {}: {}", wish.spec->name,
                                tools_.uses->NameOf(listing.device),
                                tools_.matches->ErrorOf(selector, listing)));
      default:
        return Step::kNone;
    }
  }
  return seen.reaches_node ? Step::kFound : Step::kNone;
}

bool Allocator::IsTainted(const ExactRequest& wish, const DeviceCatalog::Listing& listing) const {
  if (!features_.taints) return false;
  for (const Taint& taint : listing.spec->taints) {
    if (KeepsAway(taint, wish)) return true;
  }
  if (!features_.taint_rules) return false;
  const ResourceSliceObject& slice = *listing.slice->object;
  return std::any_of(tools_.taint_rules->begin(), tools_.taint_rules->end(), [&](const auto& each) {
    const DeviceTaintRuleObject& rule = each.second;
    return Selects(rule.driver, slice.driver) && Selects(rule.pool, slice.pool) &&
           Selects(rule.device, listing.spec->name) && KeepsAway(rule.taint, wish);
  });
}

DeviceAllocation Allocator::ResultOf(size_t claim, const ObjectView& node) const {
  DeviceAllocation allocation;
  const PreparedClaims::Claim& prepared = claims_->claims[claim];
  for (const Given& given : given_) {
    if (given.place.claim != claim) continue;
    const DeviceRequest& request = prepared.spec->requests[given.place.request];
    const ExactRequest& wish = request.alternatives[given.place.alternative];
    const DeviceCatalog::Listing& listing = ListingOf(given.listing);
    AllocatedDevice device;
    device.device = tools_.uses->NameOf(listing.device);
    device.request = request.is_list ? request.name + '/' + wish.name : request.name;
    device.has_admin_access = wish.has_admin_access;
    device.is_share = given.is_share;
    device.consumed = given.consumed;
    if (features_.HaveBindingConditions()) {
      device.binding_conditions = listing.spec->binding_conditions;
      device.binding_failure_conditions = listing.spec->binding_failure_conditions;
    }
    allocation.devices.push_back(std::move(device));
    Restrict(listing, node, &allocation);
  }
  if (!allocation.node_name.empty()) allocation.node_term.clear();
  return allocation;
}

void Allocator::Restrict(const DeviceCatalog::Listing& listing, const ObjectView& node,
                         DeviceAllocation* allocation) const {
  const ResourceSliceObject& slice = *listing.slice->object;
  const NodeReach& reach = slice.per_device ? listing.spec->reach : slice.reach;
  if (!reach.node_name.empty() || listing.spec->binds_to_node) allocation->node_name = node.name;
  if (reach.terms.empty()) return;
  for (const NodeRequirement& each : reach.terms.front()) {
    NodeTerm& term = allocation->node_term;
    if (std::find(term.begin(), term.end(), each) == term.end()) term.push_back(each);
  }
}

}  // namespace schedq
