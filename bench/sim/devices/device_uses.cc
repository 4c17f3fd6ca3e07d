#include "bench/sim/devices/device_uses.h"

#include <utility>

namespace schedq {

DeviceId DeviceUses::FindOrAdd(const DeviceName& device) {
  const auto [found, is_new] = ids_.try_emplace(device, 0);
  if (!is_new) return found->second;
  if (free_.empty()) {
    found->second = static_cast<DeviceId>(records_.size());
    records_.emplace_back();
  } else {
    found->second = free_.back();
    free_.pop_back();
  }
  records_[found->second].name = &found->first;
  return found->second;
}

void DeviceUses::ForgetUnused(DeviceId device) {
  Record& record = records_[device];
  if (record.listings != 0 || record.use.IsAllocated()) return;
  const auto known = ids_.find(*record.name);
  record = {};
  ids_.erase(known);
  free_.push_back(device);
}

DeviceId DeviceUses::List(const DeviceName& device) {
  const DeviceId id = FindOrAdd(device);
  ++records_[id].listings;
  return id;
}

void DeviceUses::Unlist(DeviceId device) {
  --records_[device].listings;
  ForgetUnused(device);
}

std::optional<DeviceId> DeviceUses::Find(const DeviceName& device) const {
  const auto found = ids_.find(device);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::optional<DeviceId> DeviceUses::Take(const AllocatedDevice& taken) {
  if (taken.has_admin_access) return std::nullopt;
  const DeviceId id = FindOrAdd(taken.device);
  Use& use = records_[id].use;
  const bool was_allocated = use.IsAllocated();
  if (taken.is_share) {
    ++use.shares;
    AddAmounts(taken.consumed, &use.consumed);
  } else {
    ++use.whole;
  }
  if (was_allocated) return std::nullopt;
  ++taken_;
  return id;
}

std::optional<DeviceId> DeviceUses::Release(const AllocatedDevice& taken) {
  const auto found = Find(taken.device);
  if (!found || taken.has_admin_access) return std::nullopt;
  Use& use = records_[*found].use;
  uint32_t& count = taken.is_share ? use.shares : use.whole;
  if (count == 0) return std::nullopt;
  --count;
  if (taken.is_share) RemoveAmounts(taken.consumed, &use.consumed);
  if (use.IsAllocated()) return std::nullopt;
  --taken_;
  const DeviceId id = *found;
  ForgetUnused(id);
  return id;
}

}  // namespace schedq
