#include "bench/sim/cluster/device_inventory.h"

#include <algorithm>

namespace schedq {
namespace {

DeviceName NameOf(const ResourceSliceObject& slice, const std::string& device) {
  return slice.driver + '/' + slice.pool + '/' + device;
}

}  // namespace

void DeviceInventory::AddSlice(const ClusterSlice& slice) {
  std::vector<Device>& devices = by_node_[slice.slice.node_name];
  for (const std::string& device : slice.slice.devices) {
    devices.push_back({slice.slice.driver, NameOf(slice.slice, device)});
  }
}

void DeviceInventory::RemoveSlice(const ClusterSlice& slice) {
  const auto found = by_node_.find(slice.slice.node_name);
  if (found == by_node_.end()) return;
  std::vector<Device>& devices = found->second;
  for (const std::string& device : slice.slice.devices) {
    const DeviceName name = NameOf(slice.slice, device);
    const auto gone = std::find_if(devices.begin(), devices.end(),
                                   [&](const Device& each) { return each.name == name; });
    if (gone != devices.end()) devices.erase(gone);
  }
  if (devices.empty()) by_node_.erase(found);
}

std::optional<std::vector<std::vector<DeviceName>>> DeviceInventory::Pick(
    std::span<const ClaimSpec* const> claims, const std::string& node) const {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return std::nullopt;
  std::vector<bool> picked(found->second.size());
  std::vector<std::vector<DeviceName>> result(claims.size());
  for (const bool for_any_driver : {false, true}) {
    for (size_t i = 0; i < claims.size(); ++i) {
      for (const DeviceRequest& request : claims[i]->requests) {
        const auto device_class = classes_.find(request.class_name);
        if (device_class == classes_.end()) return std::nullopt;
        if (device_class->second.empty() != for_any_driver) continue;
        if (!PickRequest(request, device_class->second, found->second, &picked, &result[i])) {
          return std::nullopt;
        }
      }
    }
  }
  return result;
}

bool DeviceInventory::PickRequest(const DeviceRequest& request, const std::string& driver,
                                  const std::vector<Device>& devices, std::vector<bool>* picked,
                                  std::vector<DeviceName>* out) const {
  int64_t missing = request.count;
  for (size_t i = 0; i < devices.size() && missing > 0; ++i) {
    if ((*picked)[i] || (!driver.empty() && devices[i].driver != driver)) continue;
    if (taken_.count(devices[i].name) != 0) continue;
    (*picked)[i] = true;
    out->push_back(devices[i].name);
    --missing;
  }
  return missing == 0;
}

bool DeviceInventory::Take(std::span<const DeviceName> devices) {
  for (size_t i = 0; i < devices.size(); ++i) {
    if (taken_.insert(devices[i]).second) continue;
    Release(devices.first(i));
    return false;
  }
  return true;
}

void DeviceInventory::Release(std::span<const DeviceName> devices) {
  for (const DeviceName& device : devices) taken_.erase(device);
}

}  // namespace schedq
