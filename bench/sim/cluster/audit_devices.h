// Checks after a run that what claims hold of devices is what they asked for, and is there.
//
// It knows nothing of the allocator: it works from the claims, classes and slices of the API
// server, one rule after the other. No device is given beyond its capacity, and no counter is
// overdrawn. Devices of one counter set go with each other. Each request has its number of devices,
// which its selectors choose. Each constraint holds. A claim that is reserved has devices, and is
// reserved once for each of its users, who are not too many.
// What cannot be judged any more is left out: devices whose slice has gone, and classes that have.
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"

namespace schedq {

// Adds one line a fault.
void AuditDevices(const Cluster& cluster, std::vector<std::string>* faults);

}  // namespace schedq
