// Giving devices to claims while the allocator searches, and taking them back.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/quantity.h"
#include "bench/sim/devices/allocator.h"
#include "bench/sim/devices/capacity_policy.h"

namespace schedq {

Allocator::PoolState& Allocator::StateOf(uint32_t pool) {
  PoolState& state = pools_[pool];
  if (state.counters == nullptr) {
    const DeviceCatalog::SeenPool& seen = sight_->pools[pool];
    state.counters = &tools_.catalog->CountersOf(seen.pool, seen.generation);
    state.consumed.assign(state.counters->totals.size(), Quantity());
    state.groups = state.counters->groups;
  }
  return state;
}

// What shares of the device were given in this search.
NamedAmounts Allocator::SharesOf(DeviceId device) const {
  NamedAmounts sum;
  for (const Given& given : given_) {
    if (given.is_share && ListingOf(given.listing).device == device) {
      AddAmounts(given.consumed, &sum);
    }
  }
  return sum;
}

bool Allocator::IsFree(const Place& place, const ExactRequest& wish, const Given& given) const {
  const DeviceId device = ListingOf(given.listing).device;
  if (marks_[device] != epoch_) return true;
  if (!wish.has_admin_access) return false;
  return std::none_of(given_.begin(), given_.end(), [&](const Given& each) {
    return each.place.claim == place.claim && !each.is_share &&
           ListingOf(each.listing).device == device;
  });
}

Allocator::Step Allocator::Give(const Place& place, const PreparedClaims::Wish& wish,
                                size_t candidate, bool must) {
  const DeviceCatalog::SeenDevice& seen = SeenAt(wishes_[wish.number].candidates[candidate].seen);
  const DeviceCatalog::Listing& listing = ListingOf(seen.listing);
  const DeviceUses::Use& use = (*tools_.uses)[listing.device];
  Given given;
  given.place = place;
  given.listing = seen.listing;
  given.wish = wish.number;
  given.candidate = candidate;
  given.is_share = IsShared(*listing.spec);
  if (must && !wish.spec->has_admin_access && use.whole != 0) return Step::kNone;
  if (!IsFree(place, *wish.spec, given)) return Step::kNone;
  if (must && IsTainted(*wish.spec, listing)) return Step::kNone;
  // The first share of a device has used up its counters.
  const bool is_shared_already =
      given.is_share &&
      (use.shares != 0 || std::any_of(given_.begin(), given_.end(), [&](const Given& each) {
         return each.is_share && ListingOf(each.listing).device == listing.device;
       }));
  if (!listing.spec->counter_uses.empty() && !is_shared_already) {
    if (!features_.partitionable_devices) return Step::kNone;
    if (!ReserveGroups(&given) || !ReserveCounters(&given)) {
      Undo(given);
      return Step::kNone;
    }
  }
  if (!AddToConstraints(place, wish, &given)) {
    Undo(given);
    if (!must) return Step::kNone;
    return Fail("request " + wish.spec->name + ": cannot add device " +
                tools_.uses->NameOf(listing.device) +
                " because a claim constraint would not be satisfied");
  }
  if (!ReserveCapacity(*wish.spec, &given)) {
    Undo(given);
    return Step::kNone;
  }
  if (!given.is_share) marks_[listing.device] = epoch_;
  ++given_to_[place.claim];
  given_.push_back(std::move(given));
  return Step::kFound;
}

bool Allocator::ReserveGroups(Given* given) {
  if (!features_.compatibility_groups) return true;
  PoolState& state = StateOf(SeenAt(CandidateOf(*given).seen).pool);
  given->groups_before = state.groups;
  for (const CounterUse& use : ListingOf(given->listing).spec->counter_uses) {
    CompatibilityState& groups = state.groups[state.counters->sets.at(use.counter_set)];
    if (!groups.Admits(use.compatibility_groups)) return false;
    groups.Add(use.compatibility_groups);
  }
  return true;
}

// The uses of a candidate are worked out when they are first needed.
bool Allocator::ReserveCounters(Given* given) {
  Candidate& known = CandidateOf(*given);
  PoolState& state = StateOf(SeenAt(known.seen).pool);
  if (state.counters->is_overdrawn) return false;
  if (known.counter_uses.empty()) {
    known.counter_uses =
        DeviceCatalog::CounterUsesOf(*state.counters, *ListingOf(given->listing).spec);
  }
  given->uses_counters = true;
  bool has_room = true;
  for (const PoolCounters::Use& use : known.counter_uses) {
    state.consumed[use.counter] += use.amount;
    Quantity sum = state.counters->used[use.counter];
    sum += state.consumed[use.counter];
    has_room = has_room && sum <= state.counters->totals[use.counter];
  }
  return has_room;
}

bool Allocator::AddToConstraints(const Place& place, const PreparedClaims::Wish& wish,
                                 Given* given) {
  const PreparedClaims::Claim& claim = claims_->claims[place.claim];
  for (size_t i = claim.first_constraint; i < claim.constraints_end; ++i) {
    const PreparedClaims::Constraint& constraint = claims_->constraints[i];
    ConstraintState& state = constraints_[i];
    if (constraint.concerns[wish.number]) {
      const ValueSet& values =
          tools_.values->Of(constraint.attribute, given->listing, ListingOf(given->listing));
      if (values.empty()) return false;
      if (constraint.wants_distinct) {
        const bool is_distinct =
            std::none_of(state.distinct.begin(), state.distinct.end(),
                         [&](const ValueSet* each) { return HaveCommon(*each, values); });
        if (!is_distinct) return false;
        state.distinct.push_back(&values);
      } else if (state.common.empty()) {
        state.common.push_back(values);
      } else if (ValueSet common = CommonOf(state.common.back(), values); !common.empty()) {
        state.common.push_back(std::move(common));
      } else {
        return false;
      }
    }
    ++given->constraints;
  }
  return true;
}

bool Allocator::ReserveCapacity(const ExactRequest& wish, Given* given) {
  if (!given->is_share) return true;
  const DeviceCatalog::Listing& listing = ListingOf(given->listing);
  const NamedAmounts& taken = (*tools_.uses)[listing.device].consumed;
  const CapacityFit fit = FitsCapacity(*listing.spec, wish.capacity, taken,
                                       SharesOf(listing.device), features_.fractional_ranges);
  if (fit != CapacityFit::kFits) return false;
  given->consumed = TakenOf(*listing.spec, wish.capacity, features_.fractional_ranges);
  return true;
}

void Allocator::TakeBackLast() {
  const Given given = std::move(given_.back());
  given_.pop_back();
  --given_to_[given.place.claim];
  const DeviceId device = ListingOf(given.listing).device;
  const bool is_still_given =
      given.is_share || std::any_of(given_.begin(), given_.end(), [&](const Given& each) {
        return !each.is_share && ListingOf(each.listing).device == device;
      });
  if (!is_still_given) marks_[device] = 0;
  Undo(given);
}

// What the constraints, counters and groups know of the device.
void Allocator::Undo(const Given& given) {
  const PreparedClaims::Claim& claim = claims_->claims[given.place.claim];
  const size_t wish = claim.requests[given.place.request][given.place.alternative].number;
  for (size_t i = 0; i < given.constraints; ++i) {
    const size_t number = claim.first_constraint + i;
    const PreparedClaims::Constraint& constraint = claims_->constraints[number];
    if (!constraint.concerns[wish]) continue;
    if (constraint.wants_distinct) {
      constraints_[number].distinct.pop_back();
    } else {
      constraints_[number].common.pop_back();
    }
  }
  const Candidate& candidate = CandidateOf(given);
  PoolState& state = pools_[SeenAt(candidate.seen).pool];
  if (given.uses_counters) {
    for (const PoolCounters::Use& use : candidate.counter_uses) {
      state.consumed[use.counter] -= use.amount;
    }
  }
  if (!given.groups_before.empty()) state.groups = given.groups_before;
}

}  // namespace schedq
