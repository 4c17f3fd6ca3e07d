// Devices: which exist on which node, and which are taken.
//
// Purpose: allocation of claims by device class and count. The API side of the simulation keeps
// one (for allocations that no scheduler makes), the scheduler keeps its own, which lags behind.
// The rule: on one node, for each request in turn, the first free devices of the class's driver, in
// the order in which they were published; requests of classes for any driver come last.
// Threads: one.
// Invariants:
//  1. A device is taken by at most one claim; Take refuses a second one.
//  2. A device that is taken stays known until it is released, even when its slice goes.
// Memory: one record a device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

class DeviceInventory {
 public:
  void AddClass(const std::string& name, const std::string& driver) { classes_[name] = driver; }
  void RemoveClass(const std::string& name) { classes_.erase(name); }
  void AddSlice(const ClusterSlice& slice);
  void RemoveSlice(const ClusterSlice& slice);

  // Devices on `node` for all claims together, claim by claim; nullopt: not all can be had there,
  // or a class is unknown. Nothing is taken.
  std::optional<std::vector<std::vector<DeviceName>>> Pick(std::span<const ClaimSpec* const> claims,
                                                           const std::string& node) const;

  // False: one of them is taken already; then none is.
  bool Take(std::span<const DeviceName> devices);
  void Release(std::span<const DeviceName> devices);

  bool HasDevices(const std::string& node) const { return by_node_.count(node) != 0; }
  size_t taken() const { return taken_.size(); }

 private:
  struct Device {
    std::string driver;
    DeviceName name;
  };

  // The positions of devices on `node` that `request` gets beside what is in `picked`.
  bool PickRequest(const DeviceRequest& request, const std::string& driver,
                   const std::vector<Device>& devices, std::vector<bool>* picked,
                   std::vector<DeviceName>* out) const;

  std::map<std::string, std::string, std::less<>> classes_;  // Name to driver.
  std::unordered_map<std::string, std::vector<Device>> by_node_;
  std::unordered_set<DeviceName> taken_;
};

}  // namespace schedq
