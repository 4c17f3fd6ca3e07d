// Devices, classes and claims for tests, without their YAML.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/device_catalog.h"

namespace schedq {

// A slice of a node, the only one of its pool, with devices of those names.
inline ResourceSliceObject SliceOf(const std::string& node, const std::string& driver,
                                   const std::string& pool,
                                   const std::vector<std::string>& devices) {
  ResourceSliceObject slice;
  slice.driver = driver;
  slice.pool = pool;
  slice.reach.node_name = node;
  for (const std::string& name : devices) slice.devices.push_back({.name = name});
  return slice;
}
inline ResourceSliceRef Shared(const ResourceSliceObject& slice) {
  return std::make_shared<const ResourceSliceObject>(slice);
}

// The class of a driver's devices; of no driver: that of all.
inline DeviceClassObject ClassOf(const std::string& driver) {
  DeviceClassObject device_class;
  if (!driver.empty()) {
    device_class.selectors.push_back("device.driver == \"" + driver + '"');
  }
  return device_class;
}

inline DeviceRequest RequestFor(const std::string& name, const std::string& device_class,
                                int64_t count = 1) {
  DeviceRequest request;
  request.name = name;
  request.alternatives.push_back({.name = name, .class_name = device_class, .count = count});
  return request;
}
inline ClaimSpec ClaimFor(const std::string& device_class, int64_t count = 1) {
  ClaimSpec claim;
  claim.requests.push_back(RequestFor("r", device_class, count));
  return claim;
}

// An allocation of whole devices, on one node.
inline DeviceAllocationRef AllocationOf(const std::vector<DeviceName>& devices,
                                        const std::string& node) {
  DeviceAllocation allocation;
  allocation.node_name = node;
  for (const DeviceName& device : devices) {
    allocation.devices.push_back({.device = device, .request = "r"});
  }
  return std::make_shared<const DeviceAllocation>(allocation);
}

inline std::vector<DeviceName> NamesOf(const DeviceAllocation& allocation) {
  std::vector<DeviceName> names;
  for (const AllocatedDevice& each : allocation.devices) names.push_back(each.device);
  return names;
}

}  // namespace schedq
