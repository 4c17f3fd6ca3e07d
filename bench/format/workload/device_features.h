// Which parts of dynamic resource allocation the API server and the scheduler have: their gates.
//
// Threads: values.
#pragma once

#include <string_view>

namespace schedq {

// kube-scheduler's defaults. Prioritized lists, administrators' access, extended resources and
// taints' own rules have no gate that could still be off, or follow another one.
struct DeviceFeatures {
  bool partitionable_devices = true;  // DRAPartitionableDevices
  bool consumable_capacity = true;    // DRAConsumableCapacity
  bool fractional_ranges = true;      // DRAFractionalCapacityRange
  bool prioritized_list = true;       // DRAPrioritizedList
  bool taints = true;                 // DRADeviceTaints
  bool taint_rules = true;            // DRADeviceTaintRules
  bool binding_conditions = true;     // DRADeviceBindingConditions
  bool device_status = true;          // DRAResourceClaimDeviceStatus
  bool extended_resources = true;     // DRAExtendedResource
  bool list_attributes = false;       // DRAListTypeAttributes
  bool compatibility_groups = false;  // DRADeviceCompatibilityGroups
  bool workload_claims = false;       // DRAWorkloadResourceClaims

  // Conditions stand in the status of a claim's devices.
  bool HaveBindingConditions() const { return binding_conditions && device_status; }
};

// The part that the gate stands for; null: it stands for none.
bool* FindDeviceFeature(DeviceFeatures* features, std::string_view gate);

}  // namespace schedq
