#include "bench/sim/devices/binding_conditions.h"

#include <algorithm>
#include <string>
#include <vector>

namespace schedq {
namespace {

bool Contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

bool HasBindingConditions(const DeviceAllocation& allocation) {
  return std::any_of(allocation.devices.begin(), allocation.devices.end(),
                     [](const AllocatedDevice& each) { return !each.binding_conditions.empty(); });
}

BindingState BindingStateOf(const DeviceAllocation& allocation,
                            std::span<const DeviceStatus> statuses) {
  for (const AllocatedDevice& device : allocation.devices) {
    if (device.binding_conditions.empty()) continue;
    const auto status =
        std::find_if(statuses.begin(), statuses.end(),
                     [&](const DeviceStatus& each) { return each.device == device.device; });
    if (status == statuses.end()) return BindingState::kWaiting;
    for (const std::string& failure : device.binding_failure_conditions) {
      if (Contains(status->conditions, failure)) return BindingState::kFailed;
    }
    for (const std::string& condition : device.binding_conditions) {
      if (!Contains(status->conditions, condition)) return BindingState::kWaiting;
    }
  }
  return BindingState::kReady;
}

bool HasBindingTimedOut(const DeviceAllocation& allocation, Instant allocated_at, Instant now) {
  if (allocated_at == Instant{} || !HasBindingConditions(allocation)) return false;
  return allocated_at + kBindingTimeout < now;
}

}  // namespace schedq
