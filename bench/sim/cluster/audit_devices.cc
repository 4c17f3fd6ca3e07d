#include "bench/sim/cluster/audit_devices.h"

#include <fmt/format.h>

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
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/selector_check.h"

namespace schedq {
namespace {

struct Listed {
  const ResourceSliceObject* slice;
  const SliceDevice* device;
};

using SetKey = std::pair<std::string, int64_t>;  // "driver/pool/set" and its generation.

class DevicesAudit {
 public:
  DevicesAudit(const Cluster& cluster, std::vector<std::string>* faults)
      : cluster_(cluster), faults_(*faults) {
    for (const auto& [name, slice] : cluster.slices()) {
      const ResourceSliceObject& object = *slice->slice;
      const std::string pool = object.driver + '/' + object.pool + '/';
      for (const CounterSet& set : object.shared_counters) {
        for (const auto& [counter, amount] : set.counters) {
          totals_[{pool + set.name, object.generation}][counter] = amount;
        }
      }
      for (const SliceDevice& device : object.devices) {
        listings_[pool + device.name].push_back({&object, &device});
      }
    }
  }

  void Run() {
    for (const auto& [name, claim] : cluster_.claims()) {
      AuditReservations(name, *claim);
      if (claim->allocation == nullptr) continue;
      for (const AllocatedDevice& device : claim->allocation->devices) {
        Count(name, device);
        Choose(device.device, *claim->allocation);
      }
      AuditClaim(name, *claim);
    }
    AuditShares();
    AuditCounters();
  }

 private:
  void Blame(std::string fault) { faults_.push_back(std::move(fault)); }

  // Nodes may see different generations of a pool. The device is judged by the newest listing that
  // reaches the allocation's node, and where none does, by the newest one.
  void Choose(const DeviceName& name, const DeviceAllocation& allocation) {
    const auto found = listings_.find(name);
    if (found == listings_.end()) return;
    const auto rank = [&](const Listed& each) {
      const ResourceSliceObject& slice = *each.slice;
      const NodeReach& reach = slice.per_device ? each.device->reach : slice.reach;
      const bool reaches = reach.node_name.empty() || reach.node_name == allocation.node_name;
      return std::pair(reaches, slice.generation);
    };
    listed_[name] =
        *std::max_element(found->second.begin(), found->second.end(),
                          [&](const Listed& a, const Listed& b) { return rank(a) < rank(b); });
  }

  const Listed* Find(const DeviceName& device) const {
    const auto found = listed_.find(device);
    return found == listed_.end() ? nullptr : &found->second;
  }

  // Who holds the device as a whole, and what shares take of it.
  void Count(const std::string& claim, const AllocatedDevice& device) {
    if (device.has_admin_access) return;
    allocated_.insert(device.device);
    if (device.is_share) {
      sharers_[device.device] = claim;
      for (const auto& [name, amount] : device.consumed) consumed_[device.device][name] += amount;
    }
    const auto holder = holders_.find(device.device);
    const auto sharer = sharers_.find(device.device);
    if (holder != holders_.end()) {
      Blame(fmt::format("device {} is given twice: to {} and {}", device.device, holder->second,
                        claim));
    } else if (!device.is_share && sharer != sharers_.end()) {
      Blame(fmt::format("device {} is given twice: to {} and {}", device.device, sharer->second,
                        claim));
    }
    if (!device.is_share) holders_[device.device] = claim;
  }

  void AuditShares() {
    for (const auto& [name, amounts] : consumed_) {
      const Listed* const listed = Find(name);
      if (listed == nullptr) continue;
      for (const SliceCapacity& capacity : listed->device->capacity) {
        const auto taken = amounts.find(capacity.name);
        if (taken == amounts.end() || taken->second <= capacity.amount) continue;
        Blame(fmt::format("device {} is given beyond its capacity of {}", name, capacity.name));
      }
    }
  }

  void AuditCounters() {
    std::map<SetKey, std::map<std::string, Quantity>> used;
    std::map<SetKey, std::vector<const std::vector<std::string>*>> groups;
    for (const DeviceName& name : allocated_) {
      const Listed* const listed = Find(name);
      if (listed == nullptr) continue;
      for (const CounterUse& use : listed->device->counter_uses) {
        const SetKey set = {
            listed->slice->driver + '/' + listed->slice->pool + '/' + use.counter_set,
            listed->slice->generation};
        for (const auto& [counter, amount] : use.counters) used[set][counter] += amount;
        groups[set].push_back(&use.compatibility_groups);
      }
    }
    for (const auto& [set, counters] : used) {
      for (const auto& [counter, amount] : counters) {
        if (amount > totals_[set][counter]) {
          Blame(fmt::format("counter {} of {} is overdrawn", counter, set.first));
        }
      }
      if (!GoTogether(groups[set])) {
        Blame(fmt::format("devices of {} are allocated that do not go with each other", set.first));
      }
    }
  }

  static bool GoTogether(const std::vector<const std::vector<std::string>*>& all) {
    const std::vector<std::string>& first = *all.front();
    if (first.empty()) {
      return std::all_of(all.begin(), all.end(), [](const auto* each) { return each->empty(); });
    }
    return std::any_of(first.begin(), first.end(), [&](const std::string& group) {
      return std::all_of(all.begin(), all.end(), [&](const auto* each) {
        return std::find(each->begin(), each->end(), group) != each->end();
      });
    });
  }

  // Nobody uses a claim twice, more use it than may, or one that has no devices.
  void AuditReservations(const std::string& name, const ClusterClaim& claim) {
    const std::set<uint64_t> pods(claim.reserved_for.begin(), claim.reserved_for.end());
    const std::set<std::string> groups(claim.reserved_groups.begin(), claim.reserved_groups.end());
    const size_t users = claim.reserved_for.size() + claim.reserved_groups.size();
    if (pods.size() + groups.size() != users) {
      Blame(fmt::format("claim {} is reserved twice for one user", name));
    }
    if (users > kReservationsMax) {
      Blame(fmt::format("claim {} is reserved for {} users, expected at most {}", name, users,
                        kReservationsMax));
    }
    if (users != 0 && claim.allocation == nullptr) {
      Blame(fmt::format("claim {} is reserved and has no devices", name));
    }
  }

  void AuditClaim(const std::string& name, const ClusterClaim& claim) {
    std::set<std::string> known;  // Names of requests.
    for (const DeviceRequest& request : claim.spec.requests) {
      size_t alternatives = 0;
      for (const ExactRequest& wish : request.alternatives) {
        const std::string full = request.is_list ? request.name + '/' + wish.name : request.name;
        known.insert(full);
        std::vector<const AllocatedDevice*> devices;
        for (const AllocatedDevice& each : claim.allocation->devices) {
          if (each.request == full) devices.push_back(&each);
        }
        if (devices.empty()) continue;
        ++alternatives;
        AuditRequest(name, wish, devices);
      }
      if (alternatives == 1) continue;
      Blame(fmt::format("claim {} has devices for {} alternatives of request {}, expected one",
                        name, alternatives, request.name));
    }
    for (const AllocatedDevice& each : claim.allocation->devices) {
      if (known.count(each.request) != 0) continue;
      Blame(fmt::format("claim {} has device {} for no request", name, each.device));
    }
    for (const DeviceConstraint& constraint : claim.spec.constraints) {
      AuditConstraint(name, constraint, *claim.allocation);
    }
  }

  void AuditRequest(const std::string& claim, const ExactRequest& wish,
                    const std::vector<const AllocatedDevice*>& devices) {
    if (!wish.wants_all && static_cast<int64_t>(devices.size()) != wish.count) {
      Blame(fmt::format("claim {} has {} devices for request {}, expected {}", claim,
                        devices.size(), wish.name, wish.count));
    }
    std::set<DeviceName> different;
    std::vector<std::string> selectors = wish.selectors;
    const auto device_class = cluster_.classes().find(wish.class_name);
    if (device_class != cluster_.classes().end()) {
      const auto& more = device_class->second->device_class.selectors;
      selectors.insert(selectors.end(), more.begin(), more.end());
    }
    for (const AllocatedDevice* device : devices) {
      different.insert(device->device);
      const Listed* const listed = Find(device->device);
      if (listed == nullptr) continue;
      for (const std::string& selector : selectors) {
        const auto selects = check_.Selects(selector, *listed->slice, *listed->device);
        if (selects && *selects) continue;
        Blame(fmt::format("claim {} has device {}, which request {} does not select", claim,
                          device->device, wish.name));
      }
    }
    if (different.size() != devices.size()) {
      Blame(fmt::format("claim {} has a device twice for request {}", claim, wish.name));
    }
  }

  // The values that the device has of the attribute; nullopt: it is not listed.
  std::optional<std::set<std::string>> ValuesOf(const DeviceName& name,
                                                const std::string& attribute) const {
    const Listed* const listed = Find(name);
    if (listed == nullptr) return std::nullopt;
    std::set<std::string> values;
    for (const SliceAttribute& each : listed->device->attributes) {
      if (each.name != attribute && listed->slice->driver + '/' + each.name != attribute) continue;
      for (const int64_t number : each.numbers) values.insert(std::to_string(number));
      for (const std::string& text : each.texts) values.insert(text);
      break;
    }
    return values;
  }

  void AuditConstraint(const std::string& claim, const DeviceConstraint& constraint,
                       const DeviceAllocation& allocation) {
    std::map<std::string, size_t> counts;  // Of devices, by value.
    size_t devices = 0;
    for (const AllocatedDevice& device : allocation.devices) {
      const std::string request = device.request.substr(0, device.request.find('/'));
      const auto& names = constraint.requests;
      const bool is_concerned =
          names.empty() || std::find(names.begin(), names.end(), device.request) != names.end() ||
          std::find(names.begin(), names.end(), request) != names.end();
      if (!is_concerned) continue;
      const auto values = ValuesOf(device.device, constraint.attribute);
      if (!values) return;
      ++devices;
      for (const std::string& value : *values) ++counts[value];
    }
    if (devices == 0) return;
    size_t most = 0;
    for (const auto& [value, count] : counts) most = std::max(most, count);
    const bool holds = constraint.wants_distinct ? most == 1 : most == devices;
    if (holds) return;
    Blame(fmt::format("claim {} breaks its constraint on {}", claim, constraint.attribute));
  }

  const Cluster& cluster_;
  std::vector<std::string>& faults_;
  std::map<DeviceName, std::vector<Listed>> listings_;
  std::map<DeviceName, Listed> listed_;  // Of devices that are allocated.
  std::map<SetKey, std::map<std::string, Quantity>> totals_;
  std::map<DeviceName, std::string> holders_;  // Claims.
  std::map<DeviceName, std::string> sharers_;
  std::map<DeviceName, std::map<std::string, Quantity>> consumed_;
  std::set<DeviceName> allocated_;
  SelectorCheck check_;
};

}  // namespace

void AuditDevices(const Cluster& cluster, std::vector<std::string>* faults) {
  DevicesAudit(cluster, faults).Run();
}

}  // namespace schedq
