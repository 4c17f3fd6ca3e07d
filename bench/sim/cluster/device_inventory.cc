#include "bench/sim/cluster/device_inventory.h"

#include <algorithm>
#include <utility>

namespace schedq {
namespace {

DeviceName NameOf(const ResourceSliceObject& slice, const std::string& device) {
  return slice.driver + '/' + slice.pool + '/' + device;
}

}  // namespace

void DeviceInventory::AddSlice(const ClusterSlice& slice) {
  std::vector<Device>& devices = by_node_[slice.slice.node_name];
  for (const std::string& device : slice.slice.devices) {
    DeviceName name = NameOf(slice.slice, device);
    Use& use = uses_[name];
    ++use.listings;
    devices.push_back({slice.slice.driver, std::move(name), &use});
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
    if (gone == devices.end()) continue;
    devices.erase(gone);
    --uses_.at(name).listings;
    ForgetUnused(name);
  }
  if (devices.empty()) by_node_.erase(found);
}

void DeviceInventory::ForgetUnused(const DeviceName& device) {
  const auto found = uses_.find(device);
  if (found->second.listings == 0 && !found->second.is_taken) uses_.erase(found);
}

std::optional<std::vector<std::vector<DeviceName>>> DeviceInventory::Pick(
    std::span<const ClaimSpec* const> claims, const std::string& node) const {
  std::vector<std::vector<DeviceName>> result(claims.size());
  if (!PickAll(claims, node, &result)) return std::nullopt;
  return result;
}

bool DeviceInventory::HasFor(std::span<const ClaimSpec* const> claims,
                             const std::string& node) const {
  return PickAll(claims, node, nullptr);
}

bool DeviceInventory::PickAll(std::span<const ClaimSpec* const> claims, const std::string& node,
                              std::vector<std::vector<DeviceName>>* out) const {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return false;
  std::vector<bool> picked(found->second.size());
  for (const bool for_any_driver : {false, true}) {
    for (size_t i = 0; i < claims.size(); ++i) {
      for (const DeviceRequest& request : claims[i]->requests) {
        const auto device_class = classes_.find(request.class_name);
        if (device_class == classes_.end()) return false;
        if (device_class->second.empty() != for_any_driver) continue;
        if (!PickRequest(request, device_class->second, found->second, &picked,
                         out == nullptr ? nullptr : &(*out)[i])) {
          return false;
        }
      }
    }
  }
  return true;
}

bool DeviceInventory::PickRequest(const DeviceRequest& request, const std::string& driver,
                                  const std::vector<Device>& devices, std::vector<bool>* picked,
                                  std::vector<DeviceName>* out) {
  int64_t missing = request.count;
  for (size_t i = 0; i < devices.size() && missing > 0; ++i) {
    const Device& device = devices[i];
    if (device.use->is_taken || (*picked)[i] || (!driver.empty() && device.driver != driver)) {
      continue;
    }
    (*picked)[i] = true;
    if (out != nullptr) out->push_back(device.name);
    --missing;
  }
  return missing == 0;
}

bool DeviceInventory::Take(std::span<const DeviceName> devices) {
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!std::exchange(uses_[devices[i]].is_taken, true)) {
      ++taken_;
      continue;
    }
    Release(devices.first(i));
    return false;
  }
  return true;
}

void DeviceInventory::Release(std::span<const DeviceName> devices) {
  for (const DeviceName& device : devices) {
    const auto found = uses_.find(device);
    if (found == uses_.end() || !std::exchange(found->second.is_taken, false)) continue;
    --taken_;
    ForgetUnused(device);
  }
}

}  // namespace schedq
