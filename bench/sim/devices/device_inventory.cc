#include "bench/sim/devices/device_inventory.h"

#include <algorithm>
#include <utility>

namespace schedq {

DeviceInventory::DeviceInventory(const DeviceFeatures& features, uint64_t steps_max)
    : features_(features),
      values_(features.list_attributes),
      catalog_(features, &uses_,
               [this](ListingId gone) {
                 matches_.Forget(gone);
                 values_.Forget(gone);
               }),
      allocator_({&features_, &catalog_, &uses_, &matches_, &values_, &taint_rules_}, steps_max) {}

void DeviceInventory::SetClass(const std::string& name, const DeviceClassObject& device_class) {
  Class& known = classes_[name];
  known = {};
  known.extended_resource = device_class.extended_resource;
  for (const std::string& selector : device_class.selectors) {
    known.selectors.push_back(matches_.IdOf(selector));
  }
}

// Of several classes with one resource the first by name stands for it.
const std::string* DeviceInventory::ClassOfResource(std::string_view resource) const {
  if (resource.starts_with(kDeviceClassResource)) {
    const auto found = classes_.find(resource.substr(kDeviceClassResource.size()));
    return found == classes_.end() ? nullptr : &found->first;
  }
  const auto found = std::find_if(classes_.begin(), classes_.end(), [&](const auto& each) {
    return each.second.extended_resource == resource;
  });
  return found == classes_.end() ? nullptr : &found->first;
}

void DeviceInventory::SetSlice(const std::string& name, ResourceSliceRef slice) {
  catalog_.SetSlice(name, std::move(slice));
}

void DeviceInventory::RemoveSlice(const std::string& name) { catalog_.RemoveSlice(name); }

void DeviceInventory::SetTaintRule(const std::string& name, const DeviceTaintRuleObject& rule) {
  taint_rules_[name] = rule;
}

PreparedClaims DeviceInventory::Prepare(std::span<const ClaimSpec* const> claims) {
  PreparedClaims prepared;
  for (const ClaimSpec* spec : claims) {
    PreparedClaims::Claim claim;
    claim.spec = spec;
    const size_t first_wish = prepared.wish_count;
    for (const DeviceRequest& request : spec->requests) PrepareRequest(request, &prepared, &claim);
    claim.first_constraint = prepared.constraints.size();
    for (const DeviceConstraint& constraint : spec->constraints) {
      PreparedClaims::Constraint ready;
      ready.attribute = values_.IdOf(constraint.attribute);
      ready.wants_distinct = constraint.wants_distinct;
      ready.concerns.assign(first_wish, false);
      const auto& names = constraint.requests;
      const auto has = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
      };
      for (const DeviceRequest& request : spec->requests) {
        for (const ExactRequest& wish : request.alternatives) {
          ready.concerns.push_back(names.empty() || has(request.name) ||
                                   (request.is_list && has(request.name + '/' + wish.name)));
        }
      }
      prepared.constraints.push_back(std::move(ready));
    }
    claim.constraints_end = prepared.constraints.size();
    prepared.claims.push_back(std::move(claim));
  }
  return prepared;
}

void DeviceInventory::PrepareRequest(const DeviceRequest& request, PreparedClaims* prepared,
                                     PreparedClaims::Claim* claim) {
  std::vector<PreparedClaims::Wish> wishes;
  if (request.is_list) prepared->has_alternatives = true;
  if (request.is_list && !features_.prioritized_list) {
    prepared->fault = "request " + request.name + " has alternatives, which the gate forbids";
  }
  for (const ExactRequest& spec : request.alternatives) {
    PreparedClaims::Wish wish;
    wish.spec = &spec;
    wish.number = prepared->wish_count++;
    if (!spec.capacity.empty() && !features_.consumable_capacity) {
      prepared->fault = "request " + spec.name + " asks for capacity, which the gate forbids";
    }
    const auto device_class = classes_.find(spec.class_name);
    if (device_class == classes_.end()) {
      prepared->fault =
          "request " + spec.name + ": device class " + spec.class_name + " does not exist";
    } else {
      wish.selectors = device_class->second.selectors;
    }
    for (const std::string& selector : spec.selectors) {
      wish.selectors.push_back(matches_.IdOf(selector));
    }
    wishes.push_back(std::move(wish));
  }
  claim->requests.push_back(std::move(wishes));
}

const std::vector<std::string>* DeviceInventory::NodesFor(const PreparedClaims& claims) {
  const std::vector<std::string>* fewest = nullptr;
  int64_t devices = 0;
  for (const PreparedClaims::Claim& claim : claims.claims) {
    for (size_t i = 0; i < claim.requests.size(); ++i) {
      for (const PreparedClaims::Wish& wish : claim.requests[i]) {
        // What all devices are, and too many, may be an error on any node.
        devices += wish.spec->count;
        if (wish.spec->wants_all || devices > kDevicesOfClaimMax) return nullptr;
        for (const SelectorId selector : wish.selectors) {
          const SelectorIndex::Choice* const choice = index_.ChoiceOf(selector);
          if (choice == nullptr || choice->fails) return nullptr;
          if (!choice->is_decisive || claim.spec->requests[i].is_list) continue;
          if (fewest == nullptr || choice->nodes.size() < fewest->size()) fewest = &choice->nodes;
        }
      }
    }
  }
  return fewest;
}

std::optional<bool> DeviceInventory::IsOfClass(const Class& known, ListingId id) {
  for (const SelectorId selector : known.selectors) {
    switch (matches_.Ask(selector, id, catalog_.listing(id))) {
      case SelectorAnswer::kMatch:
        continue;
      case SelectorAnswer::kError:
        return std::nullopt;
      default:
        return false;
    }
  }
  return true;
}

DeviceCount DeviceInventory::CountOf(std::string_view resource, const ObjectView& node) {
  const std::string* const name = ClassOfResource(resource);
  if (name == nullptr) return {};
  const Class& known = classes_.find(*name)->second;
  DeviceCount count;
  bool has_failed = false;
  catalog_.ForEachReaching(node, [&](ListingId id) {
    const std::optional<bool> is_of_class = IsOfClass(known, id);
    has_failed = has_failed || !is_of_class;
    if (!is_of_class.value_or(false)) return;
    ++count.all;
    if (uses_[catalog_.listing(id).device].IsAllocated()) ++count.in_use;
  });
  return has_failed ? DeviceCount() : count;
}

void DeviceInventory::Take(const DeviceAllocation& allocation) {
  for (const AllocatedDevice& device : allocation.devices) {
    if (const auto changed = uses_.Take(device)) catalog_.OnUseChanged(*changed);
  }
}

void DeviceInventory::Release(const DeviceAllocation& allocation) {
  for (const AllocatedDevice& device : allocation.devices) {
    const auto known = uses_.Find(device.device);
    if (uses_.Release(device)) catalog_.OnUseChanged(*known);
  }
}

bool DeviceInventory::IsFree(const AllocatedDevice& device) const {
  if (device.has_admin_access) return true;
  const auto known = uses_.Find(device.device);
  if (!known) return true;
  const DeviceUses::Use& use = uses_[*known];
  return use.whole == 0 && (device.is_share || use.shares == 0);
}

bool DeviceInventory::IsWithinBounds(const DeviceAllocation& allocation,
                                     const AllocatedDevice& device) {
  const auto known = uses_.Find(device.device);
  const DeviceCatalog::Listing* const listing =
      known ? catalog_.FindListing(*known, allocation) : nullptr;
  if (listing == nullptr) return true;
  const DeviceUses::Use& use = uses_[*known];
  for (const SliceCapacity& capacity : listing->spec->capacity) {
    const auto taken = std::find_if(use.consumed.begin(), use.consumed.end(),
                                    [&](const auto& each) { return each.first == capacity.name; });
    if (taken != use.consumed.end() && taken->second > capacity.amount) return false;
  }
  if (listing->spec->counter_uses.empty()) return true;
  const DeviceCatalog::Slice& slice = *listing->slice;
  const PoolCounters& counters = catalog_.CountersOf(slice.pool, slice.object->generation);
  return !counters.is_overdrawn && !(counters.has_conflict && features_.compatibility_groups);
}

bool DeviceInventory::TakeIfFree(const DeviceAllocation& allocation) {
  const auto& devices = allocation.devices;
  const auto is_free = [this](const AllocatedDevice& each) { return IsFree(each); };
  if (!std::all_of(devices.begin(), devices.end(), is_free)) return false;
  Take(allocation);
  const auto is_within = [&](const AllocatedDevice& each) {
    return IsWithinBounds(allocation, each);
  };
  if (std::all_of(devices.begin(), devices.end(), is_within)) return true;
  Release(allocation);
  return false;
}

}  // namespace schedq
