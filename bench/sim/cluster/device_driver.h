// The drivers of devices: they set the binding conditions of devices that are allocated.
//
// Purpose: what a slice's annotations say (DriverBehaviour) of all its devices. A device whose
// slice says nothing has a driver that never answers, so that pods wait for it until their time is
// over.
// Not modelled: the drivers' work on nodes, which no scheduler sees.
// Threads: one, the one that advances the clock.
// Memory: a number for each device that was ever allocated and has conditions, and a timer for each
// answer that is to come.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "bench/format/objects/device_objects.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/devices/allocation.h"
#include "engine/base/time/time.h"

namespace schedq {

class DeviceDriver {
 public:
  // Watches `cluster`, which outlives it. `call_latency` draws the latency of the next call.
  DeviceDriver(Cluster* cluster, std::function<Duration()> call_latency);

 private:
  void OnChange(const ClusterChange& change);
  void Prepare(const std::string& claim, const DeviceAllocationRef& allocation,
               const AllocatedDevice& device);
  // Writes what the device says, where the claim still has it by that allocation.
  void Tell(const std::string& claim, const DeviceAllocationRef& allocation, DeviceStatus status);
  // Of the slice that lists the device; null: none does any more.
  const DriverBehaviour* BehaviourOf(const DeviceName& device) const;

  Cluster& cluster_;
  const std::function<Duration()> call_latency_;
  std::map<DeviceName, int64_t> failures_;  // So far.
};

}  // namespace schedq
