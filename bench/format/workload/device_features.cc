#include "bench/format/workload/device_features.h"

#include <array>
#include <utility>

namespace schedq {

bool* FindDeviceFeature(DeviceFeatures* features, std::string_view gate) {
  using Member = bool DeviceFeatures::*;
  static constexpr std::array<std::pair<std::string_view, Member>, 12> kGates = {{
      {"DRAPartitionableDevices", &DeviceFeatures::partitionable_devices},
      {"DRAConsumableCapacity", &DeviceFeatures::consumable_capacity},
      {"DRAFractionalCapacityRange", &DeviceFeatures::fractional_ranges},
      {"DRAPrioritizedList", &DeviceFeatures::prioritized_list},
      {"DRADeviceTaints", &DeviceFeatures::taints},
      {"DRADeviceTaintRules", &DeviceFeatures::taint_rules},
      {"DRADeviceBindingConditions", &DeviceFeatures::binding_conditions},
      {"DRAResourceClaimDeviceStatus", &DeviceFeatures::device_status},
      {"DRAExtendedResource", &DeviceFeatures::extended_resources},
      {"DRAListTypeAttributes", &DeviceFeatures::list_attributes},
      {"DRADeviceCompatibilityGroups", &DeviceFeatures::compatibility_groups},
      {"DRAWorkloadResourceClaims", &DeviceFeatures::workload_claims},
  }};
  for (const auto& [name, member] : kGates) {
    if (name == gate) return &(features->*member);
  }
  return nullptr;
}

}  // namespace schedq
