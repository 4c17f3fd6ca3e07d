#include "bench/sim/devices/device_catalog.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "bench/format/objects/quantity.h"
#include "bench/sim/devices/allocation.h"
#include "engine/pod_rules.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

DeviceName NameOfDevice(const ResourceSliceObject& slice, const std::string& device) {
  return slice.driver + '/' + slice.pool + '/' + device;
}

bool HasBindingConditions(const DeviceCatalog::Slice& slice) {
  const auto& devices = slice.object->devices;
  return std::any_of(devices.begin(), devices.end(),
                     [](const SliceDevice& device) { return !device.binding_conditions.empty(); });
}

bool UsesCompatibilityGroups(const ResourceSliceObject& slice) {
  return std::any_of(slice.devices.begin(), slice.devices.end(), [](const SliceDevice& device) {
    return std::any_of(device.counter_uses.begin(), device.counter_uses.end(),
                       [](const CounterUse& use) { return !use.compatibility_groups.empty(); });
  });
}

// Nodes may see different generations of a pool: the nodes that an allocation is good for are those
// of the listing that gave the device.
bool MayHaveGiven(const DeviceCatalog::Listing& listing, const DeviceAllocation& allocation) {
  const ResourceSliceObject& slice = *listing.slice->object;
  const NodeReach& reach = slice.per_device ? listing.spec->reach : slice.reach;
  if (!reach.node_name.empty()) return reach.node_name == allocation.node_name;
  if (reach.terms.empty() || !allocation.node_name.empty()) return true;
  const NodeTerm& has = allocation.node_term;
  const NodeTerm& wanted = reach.terms.front();
  return std::all_of(wanted.begin(), wanted.end(), [&](const NodeRequirement& each) {
    return std::find(has.begin(), has.end(), each) != has.end();
  });
}

// Two devices of one name; empty: there are none.
std::string RepeatedDevice(const std::vector<const DeviceCatalog::Slice*>& slices) {
  std::set<std::string_view> names;
  for (const DeviceCatalog::Slice* slice : slices) {
    for (const SliceDevice& device : slice->object->devices) {
      if (!names.insert(device.name).second) return device.name;
    }
  }
  return "";
}

}  // namespace

bool CompatibilityState::Admits(const std::vector<std::string>& groups) const {
  if (is_empty_) return true;
  if (groups.empty() || common_.empty()) return groups.empty() && common_.empty();
  return std::any_of(groups.begin(), groups.end(), [&](const std::string& group) {
    return std::binary_search(common_.begin(), common_.end(), group);
  });
}

// What is not admitted leaves the state as it is.
void CompatibilityState::Add(const std::vector<std::string>& groups) {
  if (is_empty_) {
    is_empty_ = false;
    common_ = groups;
    return;
  }
  if (common_.empty() || groups.empty()) return;
  std::vector<std::string> left;
  std::set_intersection(common_.begin(), common_.end(), groups.begin(), groups.end(),
                        std::back_inserter(left));
  common_ = std::move(left);
}

bool Reaches(const NodeReach& reach, const ObjectView& node) {
  if (!reach.node_name.empty()) return node.name == reach.node_name;
  if (reach.is_everywhere) return true;
  return std::any_of(reach.terms.begin(), reach.terms.end(),
                     [&](const NodeTerm& term) { return MeetsTerm(term, node); });
}

// Without the features that a slice needs, the slice is as if it were not there.
bool DeviceCatalog::IsIgnored(const ResourceSliceObject& slice) const {
  if (!features_.partitionable_devices && (slice.per_device || !slice.shared_counters.empty())) {
    return true;
  }
  return !features_.compatibility_groups && UsesCompatibilityGroups(slice);
}

void DeviceCatalog::SetSlice(const std::string& name, ResourceSliceRef object) {
  RemoveSlice(name);
  ++version_;
  std::unique_ptr<Pool>& pool = pools_[{object->driver, object->pool}];
  if (pool == nullptr) {
    pool = std::make_unique<Pool>();
    pool->driver = object->driver;
    pool->name = object->pool;
  }
  auto slice = std::make_unique<Slice>();
  slice->name = name;
  slice->object = std::move(object);
  slice->pool = pool.get();
  for (const SliceDevice& device : slice->object->devices) {
    if (free_listings_.empty()) {
      free_listings_.push_back(static_cast<ListingId>(listings_.size()));
      listings_.emplace_back();
    }
    const ListingId id = free_listings_.back();
    free_listings_.pop_back();
    const DeviceId number = uses_.List(NameOfDevice(*slice->object, device.name));
    listings_[id] = {number, &device, slice.get()};
    slice->listings.push_back(id);
    listings_of_device_[number].push_back(id);
  }
  const std::string& node = slice->object->reach.node_name;
  (node.empty() ? far_slices_ : slices_of_node_[node])[name] = slice.get();
  pool->generations.clear();
  slices_[name] = slice.get();
  pool->slices[name] = std::move(slice);
  ForgetSightsOf(*pool);
}

void DeviceCatalog::RemoveSlice(const std::string& name) {
  const auto found = slices_.find(name);
  if (found == slices_.end()) return;
  ++version_;
  Slice* const slice = found->second;
  Pool* const pool = slice->pool;
  ForgetSightsOf(*pool);
  slices_.erase(found);
  Forget(slice);
  pool->slices.erase(name);
  pool->generations.clear();
  if (pool->slices.empty()) pools_.erase({pool->driver, pool->name});
}

void DeviceCatalog::Forget(Slice* slice) {
  for (const ListingId id : slice->listings) {
    const DeviceId device = listings_[id].device;
    std::vector<ListingId>& others = listings_of_device_[device];
    others.erase(std::find(others.begin(), others.end(), id));
    if (others.empty()) listings_of_device_.erase(device);
    uses_.Unlist(device);
    listings_[id] = {};
    on_gone_(id);
    free_listings_.push_back(id);
  }
  const std::string& node = slice->object->reach.node_name;
  if (node.empty()) {
    far_slices_.erase(slice->name);
    return;
  }
  const auto of_node = slices_of_node_.find(node);
  of_node->second.erase(slice->name);
  if (of_node->second.empty()) slices_of_node_.erase(of_node);
}

void DeviceCatalog::ForgetSightsOf(const Pool& pool) {
  for (const auto& [name, slice] : pool.slices) {
    const std::string& node = slice->object->reach.node_name;
    if (node.empty()) return sights_.clear();
    sights_.erase(node);
  }
}

const DeviceCatalog::NodeSight& DeviceCatalog::SightOf(const ObjectView& node) {
  const auto found = sights_.find(node.name);
  if (found != sights_.end()) {
    if (!found->second.depends_on_labels || found->second.labels == node.labels) {
      return found->second;
    }
    return found->second = See(node);
  }
  return sights_[node.name] = See(node);
}

void DeviceCatalog::ForEachReaching(const ObjectView& node,
                                    const std::function<void(ListingId)>& visit) const {
  const auto look_at = [&](const Slice& slice) {
    const ResourceSliceObject& object = *slice.object;
    if (!object.per_device && !schedq::Reaches(object.reach, node)) return;
    for (const ListingId id : slice.listings) {
      if (object.per_device && !schedq::Reaches(listings_[id].spec->reach, node)) continue;
      visit(id);
    }
  };
  if (const auto own = slices_of_node_.find(node.name); own != slices_of_node_.end()) {
    for (const auto& [name, slice] : own->second) look_at(*slice);
  }
  for (const auto& [name, slice] : far_slices_) look_at(*slice);
}

bool DeviceCatalog::Reaches(const ResourceSliceObject& slice, const ObjectView& node,
                            bool* by_labels) const {
  if (!slice.per_device) {
    *by_labels = *by_labels || !slice.reach.terms.empty();
    return schedq::Reaches(slice.reach, node);
  }
  bool reaches = false;
  for (const SliceDevice& device : slice.devices) {
    *by_labels = *by_labels || !device.reach.terms.empty();
    reaches = reaches || schedq::Reaches(device.reach, node);
  }
  return reaches;
}

DeviceCatalog::NodeSight DeviceCatalog::See(const ObjectView& node) {
  NodeSight sight;
  sight.labels = node.labels;
  std::map<PoolKey, std::vector<const Slice*>> seen;
  const auto look_at = [&](const Slice* slice) {
    const ResourceSliceObject& object = *slice->object;
    if (IsIgnored(object) || !Reaches(object, node, &sight.depends_on_labels)) return;
    auto& slices = seen[{object.driver, object.pool}];
    if (!slices.empty()) {
      const int64_t newest = slices.front()->object->generation;
      if (object.generation < newest) return;
      if (object.generation > newest) slices.clear();
    }
    slices.push_back(slice);
  };
  if (const auto own = slices_of_node_.find(node.name); own != slices_of_node_.end()) {
    for (const auto& [name, slice] : own->second) look_at(slice);
  }
  for (const auto& [name, slice] : far_slices_) look_at(slice);
  // Pools with binding conditions come last.
  std::vector<std::pair<Pool*, std::vector<const Slice*>>> last;
  for (auto& [key, slices] : seen) {
    Pool* const pool = slices.front()->pool;
    std::sort(slices.begin(), slices.end(),
              [](const Slice* a, const Slice* b) { return a->name < b->name; });
    const bool has_conditions = std::any_of(slices.begin(), slices.end(), [](const Slice* slice) {
      return HasBindingConditions(*slice);
    });
    if (has_conditions) {
      last.emplace_back(pool, std::move(slices));
    } else {
      SeePool(node, pool, std::move(slices), &sight);
    }
  }
  for (auto& [pool, slices] : last) SeePool(node, pool, std::move(slices), &sight);
  return sight;
}

void DeviceCatalog::SeePool(const ObjectView& node, Pool* pool, std::vector<const Slice*> slices,
                            NodeSight* sight) {
  const ResourceSliceObject& first = *slices.front()->object;
  const int64_t generation = first.generation;
  SeenPool seen;
  seen.pool = pool;
  seen.generation = generation;
  if (static_cast<int64_t>(slices.size()) != first.slice_count) {
    int64_t known = 0;
    for (const auto& [name, slice] : pool->slices) {
      if (slice->object->generation > generation) return;  // The node sees what is outdated.
      if (slice->object->generation == generation && !IsIgnored(*slice->object)) ++known;
    }
    seen.is_incomplete = known != first.slice_count;
  }
  if (!seen.is_incomplete) {
    seen.fault = WorkOut(pool, generation).fault;
    const std::string repeated = RepeatedDevice(slices);
    if (!repeated.empty()) seen.fault = "duplicate device name " + repeated;
  }
  sight->has_fault = sight->has_fault || !seen.fault.empty();
  const auto place = static_cast<uint32_t>(sight->pools.size());
  const bool gives = seen.Gives();
  sight->pools.push_back(std::move(seen));
  if (!gives) return;
  for (const Slice* slice : slices) {
    for (const ListingId id : slice->listings) {
      const bool reaches =
          !slice->object->per_device || schedq::Reaches(listings_[id].spec->reach, node);
      sight->devices.push_back({id, place, reaches});
    }
  }
}

DeviceCatalog::Generation& DeviceCatalog::WorkOut(Pool* pool, int64_t number) {
  const auto [found, is_new] = pool->generations.try_emplace(number);
  Generation& generation = found->second;
  if (!is_new || !features_.partitionable_devices) return generation;
  generation.fault = ReadCounterSets(*pool, number, &generation.counters);
  if (generation.fault.empty()) {
    generation.fault = CheckUses(*pool, number, generation.counters);
  }
  return generation;
}

std::string DeviceCatalog::ReadCounterSets(const Pool& pool, int64_t generation,
                                           PoolCounters* counters) const {
  for (const auto& [name, slice] : pool.slices) {
    if (slice->object->generation != generation) continue;
    for (const CounterSet& set : slice->object->shared_counters) {
      const auto number = static_cast<uint32_t>(counters->sets.size());
      if (!counters->sets.emplace(set.name, number).second) {
        return "duplicate counter set name " + set.name;
      }
      for (const auto& [counter, amount] : set.counters) {
        counters->counters[{number, counter}] = static_cast<uint32_t>(counters->totals.size());
        counters->totals.push_back(amount);
      }
    }
  }
  return "";
}

std::string DeviceCatalog::CheckUses(const Pool& pool, int64_t generation,
                                     const PoolCounters& counters) const {
  for (const auto& [name, slice] : pool.slices) {
    if (slice->object->generation != generation || IsIgnored(*slice->object)) continue;
    for (const SliceDevice& device : slice->object->devices) {
      for (const CounterUse& use : device.counter_uses) {
        const auto set = counters.sets.find(use.counter_set);
        if (set == counters.sets.end()) return "counter set " + use.counter_set + " not found";
        for (const auto& [counter, amount] : use.counters) {
          if (counters.counters.count({set->second, counter}) != 0) continue;
          return "counter " + counter + " not found in counter set " + use.counter_set;
        }
      }
    }
  }
  return "";
}

std::vector<PoolCounters::Use> DeviceCatalog::CounterUsesOf(const PoolCounters& counters,
                                                            const SliceDevice& device) {
  std::vector<PoolCounters::Use> uses;
  for (const CounterUse& use : device.counter_uses) {
    const uint32_t set = counters.sets.at(use.counter_set);
    for (const auto& [counter, amount] : use.counters) {
      uses.push_back({counters.counters.at({set, counter}), amount});
    }
  }
  return uses;
}

void DeviceCatalog::CountUses(const Pool& pool, int64_t generation, PoolCounters* counters) const {
  counters->used.assign(counters->totals.size(), Quantity());
  counters->groups.assign(counters->sets.size(), {});
  counters->has_conflict = false;
  for (const auto& [name, slice] : pool.slices) {
    if (slice->object->generation != generation || IsIgnored(*slice->object)) continue;
    for (const ListingId id : slice->listings) {
      const SliceDevice& device = *listings_[id].spec;
      if (device.counter_uses.empty() || !uses_[listings_[id].device].IsAllocated()) continue;
      for (const PoolCounters::Use& use : CounterUsesOf(*counters, device)) {
        counters->used[use.counter] += use.amount;
      }
      for (const CounterUse& use : device.counter_uses) {
        CompatibilityState& groups = counters->groups[counters->sets.at(use.counter_set)];
        counters->has_conflict |= !groups.Admits(use.compatibility_groups);
        groups.Add(use.compatibility_groups);
      }
    }
  }
  counters->is_overdrawn = false;
  for (size_t i = 0; i < counters->totals.size(); ++i) {
    const bool is_over = counters->used[i] > counters->totals[i];
    counters->is_overdrawn = counters->is_overdrawn || is_over;
  }
}

const PoolCounters& DeviceCatalog::CountersOf(Pool* pool, int64_t number) {
  Generation& generation = WorkOut(pool, number);
  if (!std::exchange(generation.has_fresh_uses, true)) {
    // Of an invalid pool the counters are not known.
    const bool counts = features_.partitionable_devices && generation.fault.empty();
    if (counts) CountUses(*pool, number, &generation.counters);
  }
  return generation.counters;
}

void DeviceCatalog::OnUseChanged(DeviceId device) {
  const auto found = listings_of_device_.find(device);
  if (found == listings_of_device_.end()) return;
  for (const ListingId id : found->second) {
    const Listing& each = listings_[id];
    if (each.spec->counter_uses.empty()) continue;
    const auto seen = each.slice->pool->generations.find(each.slice->object->generation);
    if (seen != each.slice->pool->generations.end()) seen->second.has_fresh_uses = false;
  }
}

const DeviceCatalog::Listing* DeviceCatalog::FindListing(DeviceId device,
                                                         const DeviceAllocation& allocation) const {
  const auto found = listings_of_device_.find(device);
  if (found == listings_of_device_.end()) return nullptr;
  const Listing* newest = nullptr;
  for (const ListingId id : found->second) {
    const Listing& each = listings_[id];
    if (!MayHaveGiven(each, allocation)) continue;
    if (newest == nullptr || each.slice->object->generation > newest->slice->object->generation) {
      newest = &each;
    }
  }
  return newest;
}

}  // namespace schedq
