// Allocates devices by trying everything: the judge of the allocator in random tests.
//
// Purpose: the first valid answer in the order in which alternatives and devices are tried. It
// knows the rules, and nothing of indexes, backtracking and kept answers: it makes one complete
// answer after the other, and judges each as a whole. For a handful of devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/quantity.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/capacity_policy.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

// A cluster with one node, which every slice reaches.
struct SmallWorld {
  std::vector<ResourceSliceObject> slices;     // In the order in which they are tried.
  std::map<std::string, std::string> classes;  // To drivers; empty: any.
  std::vector<AllocatedDevice> held;
};

class ExhaustiveAllocator {
 public:
  ExhaustiveAllocator(const SmallWorld& world, const std::vector<ClaimSpec>& claims)
      : world_(world), claims_(claims) {
    for (const ResourceSliceObject& slice : world.slices) {
      for (const SliceDevice& device : slice.devices) {
        devices_.push_back({&slice, &device, slice.driver + '/' + slice.pool + '/' + device.name});
      }
    }
  }

  // The allocations of the claims; nullopt: there is no answer.
  std::optional<std::vector<DeviceAllocation>> Find() {
    answer_.assign(claims_.size(), {});
    if (!Choose(0, 0)) return std::nullopt;
    return answer_;
  }

 private:
  struct Device {
    const ResourceSliceObject* slice;
    const SliceDevice* device;
    DeviceName name;
  };

  bool Choose(size_t claim, size_t request) {
    if (claim == claims_.size()) return IsValid();
    const ClaimSpec& spec = claims_[claim];
    if (request == spec.requests.size()) return Choose(claim + 1, 0);
    const DeviceRequest& asked = spec.requests[request];
    return std::any_of(
        asked.alternatives.begin(), asked.alternatives.end(), [&](const ExactRequest& wish) {
          const std::string name = asked.is_list ? asked.name + '/' + wish.name : asked.name;
          if (wish.wants_all) return ChooseAll(claim, request, wish, name);
          return ChooseSome(claim, request, wish, name, wish.count, 0);
        });
  }

  bool ChooseSome(size_t claim, size_t request, const ExactRequest& wish, const std::string& name,
                  int64_t missing, size_t from) {
    if (missing == 0) return Choose(claim, request + 1);
    for (size_t i = from; i < devices_.size(); ++i) {
      if (!IsSelected(wish, devices_[i]) || IsHopeless(wish, devices_[i])) continue;
      answer_[claim].devices.push_back(Give(wish, devices_[i], name));
      if (ChooseSome(claim, request, wish, name, missing - 1, i + 1)) return true;
      answer_[claim].devices.pop_back();
    }
    return false;
  }

  bool ChooseAll(size_t claim, size_t request, const ExactRequest& wish, const std::string& name) {
    std::vector<AllocatedDevice>& given = answer_[claim].devices;
    const size_t before = given.size();
    for (const Device& each : devices_) {
      if (IsSelected(wish, each)) given.push_back(Give(wish, each, name));
    }
    if (given.size() > before && Choose(claim, request + 1)) return true;
    given.resize(before);
    return false;
  }

  static AllocatedDevice Give(const ExactRequest& wish, const Device& device,
                              const std::string& name) {
    AllocatedDevice given{.device = device.name, .request = name};
    given.has_admin_access = wish.has_admin_access;
    given.is_share = device.device->is_shared;
    if (given.is_share) given.consumed = TakenOf(*device.device, wish.capacity, true);
    return given;
  }

  // What is asked of one device alone. A request for all takes this as its choice.
  bool IsSelected(const ExactRequest& wish, const Device& device) const {
    const std::string& driver = world_.classes.at(wish.class_name);
    if (!driver.empty() && driver != device.slice->driver) return false;
    return FitsCapacity(*device.device, wish.capacity, {}, {}, true) == CapacityFit::kFits;
  }

  // No answer with the device for this wish is valid: leaving these out only saves time.
  bool IsHopeless(const ExactRequest& wish, const Device& device) const {
    const auto has = [&](const AllocatedDevice& each) { return each.device == device.name; };
    if (IsTainted(wish, *device.device)) return true;
    if (wish.has_admin_access) return false;
    if (std::any_of(world_.held.begin(), world_.held.end(), has)) return true;
    if (device.device->is_shared) return false;
    return std::any_of(answer_.begin(), answer_.end(), [&](const DeviceAllocation& each) {
      return std::any_of(each.devices.begin(), each.devices.end(), has);
    });
  }

  const Device& Find(const DeviceName& name) const {
    return *std::find_if(devices_.begin(), devices_.end(),
                         [&](const Device& each) { return each.name == name; });
  }

  const ExactRequest& WishOf(const ClaimSpec& claim, const AllocatedDevice& given) const {
    for (const DeviceRequest& request : claim.requests) {
      for (const ExactRequest& wish : request.alternatives) {
        if (given.request == (request.is_list ? request.name + '/' + wish.name : request.name)) {
          return wish;
        }
      }
    }
    return claim.requests.front().alternatives.front();
  }

  bool IsValid() const {
    std::vector<const AllocatedDevice*> all;
    for (const AllocatedDevice& each : world_.held) all.push_back(&each);
    for (size_t i = 0; i < claims_.size(); ++i) {
      for (const AllocatedDevice& each : answer_[i].devices) {
        all.push_back(&each);
        if (IsTainted(WishOf(claims_[i], each), *Find(each.device).device)) return false;
      }
      for (const DeviceConstraint& constraint : claims_[i].constraints) {
        if (!Holds(constraint, answer_[i])) return false;
      }
    }
    return AreFree(all) && HaveCapacity(all) && HaveCounters(all) && GoTogether(all);
  }

  static bool IsTainted(const ExactRequest& wish, const SliceDevice& device) {
    return std::any_of(device.taints.begin(), device.taints.end(), [&](const Taint& taint) {
      return std::none_of(wish.tolerations.begin(), wish.tolerations.end(),
                          [&](const Toleration& each) { return each.key == taint.key; });
    });
  }

  std::set<std::string> ValuesOf(const DeviceName& name, const std::string& attribute) const {
    for (const SliceAttribute& each : Find(name).device->attributes) {
      if (each.name == attribute) return {each.texts.begin(), each.texts.end()};
    }
    return {};
  }

  bool Holds(const DeviceConstraint& constraint, const DeviceAllocation& allocation) const {
    std::vector<std::set<std::string>> sets;
    for (const AllocatedDevice& each : allocation.devices) {
      const auto& names = constraint.requests;
      const std::string request = each.request.substr(0, each.request.find('/'));
      if (!names.empty() && std::count(names.begin(), names.end(), each.request) == 0 &&
          std::count(names.begin(), names.end(), request) == 0) {
        continue;
      }
      sets.push_back(ValuesOf(each.device, constraint.attribute));
      if (sets.back().empty()) return false;
    }
    std::map<std::string, size_t> counts;
    for (const auto& set : sets) {
      for (const std::string& value : set) ++counts[value];
    }
    size_t most = 0;
    for (const auto& [value, count] : counts) most = std::max(most, count);
    return constraint.wants_distinct ? most <= 1 : most == sets.size();
  }

  // A device that is given as a whole is given once. One claim's administrator gets it once too,
  // and so do an administrator and an ordinary request of one attempt where it comes later.
  bool AreFree(const std::vector<const AllocatedDevice*>& all) const {
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (all[i]->device != all[j]->device) continue;
        if (all[i]->is_share && all[j]->is_share) continue;
        if (all[i]->has_admin_access || all[j]->has_admin_access) {
          if (!MayMeet(*all[j], *all[i], j)) return false;
          continue;
        }
        return false;
      }
    }
    return true;
  }

  // Whether `later` may have the device of `earlier`, one of them for an administrator.
  bool MayMeet(const AllocatedDevice& earlier, const AllocatedDevice& later, size_t place) const {
    if (place < world_.held.size()) return true;
    if (!later.has_admin_access) return false;
    return ClaimOf(earlier) != ClaimOf(later);
  }
  size_t ClaimOf(const AllocatedDevice& given) const {
    for (size_t i = 0; i < answer_.size(); ++i) {
      for (const AllocatedDevice& each : answer_[i].devices) {
        if (&each == &given) return i;
      }
    }
    return answer_.size();
  }

  bool HaveCapacity(const std::vector<const AllocatedDevice*>& all) const {
    std::map<std::pair<DeviceName, std::string>, Quantity> taken;
    for (const AllocatedDevice* each : all) {
      for (const auto& [name, amount] : each->consumed) taken[{each->device, name}] += amount;
    }
    return std::all_of(taken.begin(), taken.end(), [&](const auto& entry) {
      const auto& capacity = Find(entry.first.first).device->capacity;
      return std::all_of(capacity.begin(), capacity.end(), [&](const SliceCapacity& each) {
        return each.name != entry.first.second || entry.second <= each.amount;
      });
    });
  }

  // A device uses up its counters once, however many shares it has.
  std::set<DeviceName> Different(const std::vector<const AllocatedDevice*>& all) const {
    std::set<DeviceName> names;
    for (const AllocatedDevice* each : all) names.insert(each->device);
    return names;
  }

  bool HaveCounters(const std::vector<const AllocatedDevice*>& all) const {
    std::map<std::string, Quantity> used;
    for (const DeviceName& name : Different(all)) {
      const Device& device = Find(name);
      for (const CounterUse& use : device.device->counter_uses) {
        for (const auto& [counter, amount] : use.counters) {
          used[device.slice->pool + '/' + use.counter_set + '/' + counter] += amount;
        }
      }
    }
    for (const ResourceSliceObject& slice : world_.slices) {
      for (const CounterSet& set : slice.shared_counters) {
        for (const auto& [counter, amount] : set.counters) {
          if (used[slice.pool + '/' + set.name + '/' + counter] > amount) return false;
        }
      }
    }
    return true;
  }

  bool GoTogether(const std::vector<const AllocatedDevice*>& all) const {
    std::map<std::string, std::vector<std::set<std::string>>> groups;
    for (const DeviceName& name : Different(all)) {
      const Device& device = Find(name);
      for (const CounterUse& use : device.device->counter_uses) {
        const auto& own = use.compatibility_groups;
        groups[device.slice->pool + '/' + use.counter_set].push_back({own.begin(), own.end()});
      }
    }
    return std::all_of(groups.begin(), groups.end(), [](const auto& entry) {
      std::map<std::string, size_t> counts;
      size_t without = 0;
      for (const auto& set : entry.second) {
        if (set.empty()) ++without;
        for (const std::string& group : set) ++counts[group];
      }
      if (without == entry.second.size()) return true;
      return std::any_of(counts.begin(), counts.end(),
                         [&](const auto& each) { return each.second == entry.second.size(); });
    });
  }

  const SmallWorld& world_;
  const std::vector<ClaimSpec>& claims_;
  std::vector<Device> devices_;
  std::vector<DeviceAllocation> answer_;
};

}  // namespace schedq
