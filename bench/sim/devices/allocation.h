// What a claim gets: its devices, and the nodes on which they can be used.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/quantity.h"
#include "engine/object.h"
#include "engine/pod_rules.h"

namespace schedq {

// "driver/pool/device": unique in a cluster.
using DeviceName = std::string;

struct AllocatedDevice {
  DeviceName device;
  std::string request = {};       // "request" or "request/alternative"
  bool has_admin_access = false;  // The device is not used up.
  bool is_share = false;          // One of several allocations of the device.
  // What a share takes of the device.
  std::vector<std::pair<std::string, Quantity>> consumed = {};
  std::vector<std::string> binding_conditions = {};
  std::vector<std::string> binding_failure_conditions = {};
  bool operator==(const AllocatedDevice&) const = default;
};

struct DeviceAllocation {
  std::vector<AllocatedDevice> devices;
  // Where the devices can be used: on that node, else on nodes that meet the term, else everywhere.
  std::string node_name = {};
  NodeTerm node_term = {};
  bool operator==(const DeviceAllocation&) const = default;
};
using DeviceAllocationRef = std::shared_ptr<const DeviceAllocation>;

bool IsAvailableOn(const DeviceAllocation& allocation, const ObjectView& node);

// What a driver says of a device that is allocated to a claim.
struct DeviceStatus {
  DeviceName device;
  std::vector<std::string> conditions;  // Those that are true.
  bool operator==(const DeviceStatus&) const = default;
};

// What the allocator says of some claims and a node.
struct AllocationOutcome {
  enum class Kind : uint8_t {
    kFound,
    kNone,   // The node does not have the devices.
    kError,  // The claims cannot be allocated at all, as `message` says.
  };

  Kind kind = Kind::kNone;
  std::vector<DeviceAllocation> allocations = {};  // Of kFound, one a claim.
  std::string message = {};

  bool found() const { return kind == Kind::kFound; }
};

}  // namespace schedq
