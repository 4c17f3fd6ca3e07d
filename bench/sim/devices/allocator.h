// Allocates devices of a node to claims: kube-scheduler's structured allocator.
//
// Purpose: whether a node has the devices that the claims ask for, and which they get. Changes
// nothing.
// Method: depth first. Each request in turn gets the first devices, in the order of the catalog,
// with which the rest can be found too; alternatives are tried in their order. A device is looked
// at once for each wish, when the search first comes to it.
// Bound: a number of steps, each at most one device that is given. kube-scheduler gives up after
// ten seconds.
// Threads: one. The tools outlive it.
// Source of the rules and of the order: k8s.io/dynamic-resource-allocation/structured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/quantity.h"
#include "bench/format/workload/device_features.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/attribute_values.h"
#include "bench/sim/devices/capacity_policy.h"
#include "bench/sim/devices/device_catalog.h"
#include "bench/sim/devices/device_uses.h"
#include "bench/sim/devices/prepared_claims.h"
#include "bench/sim/devices/selector_matches.h"
#include "engine/object.h"

namespace schedq {

using TaintRules = std::map<std::string, DeviceTaintRuleObject>;

struct AllocatorTools {
  const DeviceFeatures* features = nullptr;
  DeviceCatalog* catalog = nullptr;
  const DeviceUses* uses = nullptr;
  SelectorMatches* matches = nullptr;
  AttributeValues* values = nullptr;
  const TaintRules* taint_rules = nullptr;
};

class Allocator {
 public:
  static constexpr uint64_t kStepsMax = 1'000'000;

  explicit Allocator(const AllocatorTools& tools, uint64_t steps_max = kStepsMax)
      : tools_(tools), features_(*tools.features), steps_max_(steps_max) {}

  AllocationOutcome Allocate(const PreparedClaims& claims, const ObjectView& node);

  // Of all allocations.
  uint64_t steps() const { return total_steps_ + steps_; }

 private:
  enum class Step : uint8_t {
    kFound,
    kNone,
    kTooMany,  // A claim would get more devices than it may: other devices are of no help.
    kError,    // message_ says which.
  };
  // Where the search is.
  struct Place {
    size_t claim = 0;
    size_t request = 0;
    size_t alternative = 0;
    size_t device = 0;  // So many devices of the wish are given.
  };
  // A device that may be given for a wish, as far as that does not depend on what else is given.
  struct Candidate {
    uint32_t seen = 0;  // Place in NodeSight::devices.
    bool is_error = false;
    std::vector<PoolCounters::Use> counter_uses = {};
  };
  struct WishState {
    std::vector<Candidate> candidates;
    uint32_t scanned = 0;  // Of NodeSight::devices.
    size_t needed = 0;
    bool has_error = false;  // One of the candidates is an error.
  };
  // The devices of the node that were given to the pool's claims in this search.
  struct PoolState {
    const PoolCounters* counters = nullptr;  // Null: not asked for yet.
    std::vector<Quantity> consumed;
    std::vector<CompatibilityState> groups;
  };
  struct ConstraintState {
    std::vector<ValueSet> common;           // After each device.
    std::vector<const ValueSet*> distinct;  // One a device.
  };
  struct Given {
    Place place;
    ListingId listing = 0;
    bool is_share = false;
    NamedAmounts consumed = {};
    // For taking it back.
    size_t wish = 0;
    size_t candidate = 0;  // Of the wish.
    bool uses_counters = false;
    size_t constraints = 0;  // So many know of it.
    std::vector<CompatibilityState> groups_before = {};
  };

  void Begin(const PreparedClaims& claims, const ObjectView& node);
  // What the claims need at least. nullopt: nothing is wrong with them.
  std::optional<std::string> CheckClaims();
  std::optional<std::string> FindAll(const PreparedClaims::Wish& wish);

  Step Next(Place place, bool in_alternative, size_t from);
  Step NextAlternative(Place place);
  Step GiveAll(const Place& place, const PreparedClaims::Wish& wish);
  Step GiveOne(const Place& place, const PreparedClaims::Wish& wish, bool in_alternative,
               size_t from);
  // Makes the candidate of that number known. False: there are fewer.
  bool Scan(const PreparedClaims::Wish& wish, size_t number);
  // kNone: the device is not for this wish.
  Step Examine(const PreparedClaims::Wish& wish, uint32_t seen);
  Step IsSelected(const PreparedClaims::Wish& wish, const DeviceCatalog::SeenDevice& seen);
  bool IsTainted(const ExactRequest& wish, const DeviceCatalog::Listing& listing) const;
  bool IsShared(const SliceDevice& device) const {
    return features_.consumable_capacity && device.is_shared;
  }

  // Gives the wish's candidate of that number.
  Step Give(const Place& place, const PreparedClaims::Wish& wish, size_t candidate, bool must);
  bool IsFree(const Place& place, const ExactRequest& wish, const Given& given) const;
  bool ReserveCounters(Given* given);
  bool ReserveGroups(Given* given);
  bool AddToConstraints(const Place& place, const PreparedClaims::Wish& wish, Given* given);
  bool ReserveCapacity(const ExactRequest& wish, Given* given);
  void TakeBackLast();
  void Undo(const Given& given);
  NamedAmounts SharesOf(DeviceId device) const;
  PoolState& StateOf(uint32_t pool);
  Candidate& CandidateOf(const Given& given) {
    return wishes_[given.wish].candidates[given.candidate];
  }

  Step Fail(std::string message);
  DeviceAllocation ResultOf(size_t claim, const ObjectView& node) const;
  void Restrict(const DeviceCatalog::Listing& listing, const ObjectView& node,
                DeviceAllocation* allocation) const;

  const DeviceCatalog::Listing& ListingOf(ListingId listing) const {
    return tools_.catalog->listing(listing);
  }
  const DeviceCatalog::SeenDevice& SeenAt(uint32_t place) const { return sight_->devices[place]; }

  const AllocatorTools tools_;
  const DeviceFeatures& features_;
  const uint64_t steps_max_;
  uint64_t total_steps_ = 0;  // Of the allocations before.
  // Of the allocation.
  const PreparedClaims* claims_ = nullptr;
  const DeviceCatalog::NodeSight* sight_ = nullptr;
  std::vector<WishState> wishes_;
  std::vector<ConstraintState> constraints_;
  std::vector<PoolState> pools_;
  std::vector<Given> given_;
  std::vector<int64_t> given_to_;  // By claim: how many.
  std::vector<uint32_t> marks_;    // By device: epoch_ where the device is given as a whole.
  uint32_t epoch_ = 0;
  uint64_t steps_ = 0;
  std::string message_;
};

}  // namespace schedq
