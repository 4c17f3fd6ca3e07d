// The devices of each node, and which of them are taken.
//
// Purpose: allocation of claims by device class and count. The API server has one inventory, for
// allocations that no scheduler makes. The scheduler has its own, which lags behind.
// Rule: all devices are on one node. Each request in turn gets the first free devices of its
// class's driver, in the order of publication. Requests for classes of any driver come last.
// Threads: one.
// Invariants:
//  1. A device is taken by at most one claim; Take refuses a second one.
//  2. A taken device stays known until its release, even if its slice is deleted.
// Memory: one record a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

class DeviceInventory {
 public:
  void AddClass(const std::string& name, const std::string& driver) { classes_[name] = driver; }
  void RemoveClass(const std::string& name) { classes_.erase(name); }
  void AddSlice(const ClusterSlice& slice);
  void RemoveSlice(const ClusterSlice& slice);

  // Picks devices on `node` for all claims together, and takes none. The result has a list a claim.
  // nullopt: the node has too few devices, or a class is unknown.
  std::optional<std::vector<std::vector<DeviceName>>> Pick(std::span<const ClaimSpec* const> claims,
                                                           const std::string& node) const;

  // Whether Pick would find devices: what a filter asks of node after node.
  bool HasFor(std::span<const ClaimSpec* const> claims, const std::string& node) const;

  // Takes all devices. Returns false, and takes none, where one of them is taken already.
  bool Take(std::span<const DeviceName> devices);
  void Release(std::span<const DeviceName> devices);

  bool HasDevices(const std::string& node) const { return by_node_.count(node) != 0; }
  size_t taken() const { return taken_; }

 private:
  // What is known under a name; a device may be taken after its slice has gone.
  struct Use {
    uint32_t listings = 0;  // Slices may list a device twice.
    bool is_taken = false;
  };
  struct Device {
    std::string driver;
    DeviceName name;
    const Use* use;  // In uses_, where it stays while the device is listed.
  };

  // Null `out`: only whether there are devices.
  bool PickAll(std::span<const ClaimSpec* const> claims, const std::string& node,
               std::vector<std::vector<DeviceName>>* out) const;
  // Adds the request's devices to `picked` (by position in `devices`), and to `out` if it is there.
  static bool PickRequest(const DeviceRequest& request, const std::string& driver,
                          const std::vector<Device>& devices, std::vector<bool>* picked,
                          std::vector<DeviceName>* out);
  void ForgetUnused(const DeviceName& device);

  std::map<std::string, std::string, std::less<>> classes_;  // Name to driver.
  std::unordered_map<std::string, std::vector<Device>> by_node_;
  std::unordered_map<DeviceName, Use> uses_;  // Of devices that are listed or taken.
  size_t taken_ = 0;
};

}  // namespace schedq
