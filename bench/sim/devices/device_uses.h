// Which devices are in use, by name: also those whose slice has gone.
//
// Purpose: the sum of all allocations. A device is in use as a whole, or by shares that each take
// some of its capacity. Administrators' allocations use up nothing.
// Threads: one.
// Invariants:
//  1. A device's number stays while it is listed by a slice or in use; then another gets it.
// Memory: a record a device that is listed or in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/capacity_policy.h"

namespace schedq {

using DeviceId = uint32_t;

class DeviceUses {
 public:
  struct Use {
    uint32_t whole = 0;   // Allocations of the whole device. More than one is a fault of a client.
    uint32_t shares = 0;  // Allocations of some of it.
    NamedAmounts consumed;  // By the shares.

    bool IsAllocated() const { return whole + shares != 0; }
  };

  // A slice lists the device, or does no more.
  DeviceId List(const DeviceName& device);
  void Unlist(DeviceId device);

  // Returns the device where it is known and this changed whether it is allocated.
  std::optional<DeviceId> Take(const AllocatedDevice& taken);
  std::optional<DeviceId> Release(const AllocatedDevice& taken);

  const Use& operator[](DeviceId device) const { return records_[device].use; }
  std::optional<DeviceId> Find(const DeviceName& device) const;
  const DeviceName& NameOf(DeviceId device) const { return *records_[device].name; }
  // Numbers are below this.
  size_t size() const { return records_.size(); }
  // Devices that are allocated.
  size_t taken() const { return taken_; }

 private:
  struct Record {
    Use use;
    uint32_t listings = 0;
    const DeviceName* name = nullptr;  // In ids_.
  };

  DeviceId FindOrAdd(const DeviceName& device);
  void ForgetUnused(DeviceId device);

  std::unordered_map<DeviceName, DeviceId> ids_;
  std::vector<Record> records_;
  std::vector<DeviceId> free_;
  size_t taken_ = 0;
};

}  // namespace schedq
