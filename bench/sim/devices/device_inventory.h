// All devices of a cluster, what is in use of them, and the allocation of the rest.
//
// Purpose: device classes, resource slices and rules about taints; takes what allocations hold and
// allocates what they leave. The API server has one inventory, for allocations that no scheduler
// makes. The scheduler has its own, which lags behind.
// Threads: one.
// Memory: a record a class, a slice and a device; kept answers of selectors (selector_matches.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/format/workload/device_features.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/allocator.h"
#include "bench/sim/devices/attribute_values.h"
#include "bench/sim/devices/device_catalog.h"
#include "bench/sim/devices/device_uses.h"
#include "bench/sim/devices/prepared_claims.h"
#include "bench/sim/devices/selector_index.h"
#include "bench/sim/devices/selector_matches.h"
#include "engine/object.h"

namespace schedq {

// Pods may ask for devices of a class by a resource of this name and the class's.
inline constexpr std::string_view kDeviceClassResource = "deviceclass.resource.kubernetes.io/";

struct DeviceCount {
  int64_t all = 0;
  int64_t in_use = 0;
};

class DeviceInventory {
 public:
  explicit DeviceInventory(const DeviceFeatures& features = {},
                           uint64_t steps_max = Allocator::kStepsMax);
  DeviceInventory(const DeviceInventory&) = delete;
  DeviceInventory& operator=(const DeviceInventory&) = delete;

  void SetClass(const std::string& name, const DeviceClassObject& device_class);
  void RemoveClass(const std::string& name) { classes_.erase(name); }
  bool HasClass(const std::string& name) const { return classes_.count(name) != 0; }
  // The class of the devices for which the resource stands; null: it stands for none.
  const std::string* ClassOfResource(std::string_view resource) const;

  void SetSlice(const std::string& name, ResourceSliceRef slice);
  void RemoveSlice(const std::string& name);
  void SetTaintRule(const std::string& name, const DeviceTaintRuleObject& rule);
  void RemoveTaintRule(const std::string& name) { taint_rules_.erase(name); }

  // The specs outlive what is prepared.
  PreparedClaims Prepare(std::span<const ClaimSpec* const> claims);
  // The only nodes that can have devices for the claims, by name, where one of their selectors
  // decides: on all others Allocate finds none. Null: it may find some on any node, or an error.
  // Valid until the next change of a slice or class, or the next call.
  const std::vector<std::string>* NodesFor(const PreparedClaims& claims);
  // Takes nothing.
  AllocationOutcome Allocate(const PreparedClaims& claims, const ObjectView& node) {
    return allocator_.Allocate(claims, node);
  }

  // Takes the devices, whatever is in use.
  void Take(const DeviceAllocation& allocation);
  // Takes them where all of them are there for it. False: nothing was taken.
  bool TakeIfFree(const DeviceAllocation& allocation);
  void Release(const DeviceAllocation& allocation);
  // Whether nobody has the device, or what there is of it may be shared.
  bool IsFree(const AllocatedDevice& device) const;

  // Of the devices for which the resource stands: those of all slices that reach the node, of
  // whatever generation, as scores count them. None where a selector of the class fails.
  DeviceCount CountOf(std::string_view resource, const ObjectView& node);

  // Devices that are in use.
  size_t taken() const { return uses_.taken(); }
  const DeviceUses& uses() const { return uses_; }
  const DeviceFeatures& features() const { return features_; }
  const SelectorMatches& matches() const { return matches_; }
  const Allocator& allocator() const { return allocator_; }

 private:
  struct Class {
    std::vector<SelectorId> selectors;
    std::string extended_resource;
  };

  void PrepareRequest(const DeviceRequest& request, PreparedClaims* prepared,
                      PreparedClaims::Claim* claim);
  // Whether the class selects the device; nullopt: it cannot be evaluated.
  std::optional<bool> IsOfClass(const Class& known, ListingId id);
  // What is in use is within what there is, of the device and of its pool's counters.
  bool IsWithinBounds(const DeviceAllocation& allocation, const AllocatedDevice& device);

  const DeviceFeatures features_;
  DeviceUses uses_;
  SelectorMatches matches_;
  AttributeValues values_;
  DeviceCatalog catalog_;
  SelectorIndex index_{&catalog_, &matches_};
  TaintRules taint_rules_;
  std::map<std::string, Class, std::less<>> classes_;
  Allocator allocator_;
};

}  // namespace schedq
