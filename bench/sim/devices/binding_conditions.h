// Whether drivers have made the devices of a claim ready for a pod to be bound.
//
// Purpose: a device may have binding conditions, which its driver sets after the allocation, and
// failure conditions, which say that it never will.
// Threads: pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "bench/sim/devices/allocation.h"
#include "engine/base/time/time.h"

namespace schedq {

// How long a pod waits for the conditions, since its claim was allocated: the default of
// bindingTimeout. And how often the scheduler looks.
inline constexpr Duration kBindingTimeout = std::chrono::minutes(10);
inline constexpr Duration kBindingPoll = std::chrono::seconds(5);

enum class BindingState : uint8_t { kReady, kWaiting, kFailed };

bool HasBindingConditions(const DeviceAllocation& allocation);

// The first device that is not ready decides, in the order of the allocation: one of which its
// driver has said nothing yet hides the failure of a later one.
BindingState BindingStateOf(const DeviceAllocation& allocation,
                            std::span<const DeviceStatus> statuses);

// Whether the claim's time is over. `allocated_at` is 0 where nobody has noted it.
bool HasBindingTimedOut(const DeviceAllocation& allocation, Instant allocated_at, Instant now);

}  // namespace schedq
