// How much of a device's capacity a request takes, and whether the device has it.
//
// Rule: a request that does not name a capacity takes the policy's default, or all of it. One that
// names it gets the amount rounded up as the policy says: to the least of the range and then by its
// steps, or to the next valid amount. A device that lacks a capacity that is named does not fit.
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/quantity.h"

namespace schedq {

using NamedAmounts = std::vector<std::pair<std::string, Quantity>>;

enum class CapacityFit { kFits, kLacks, kNotRepresentable };

// What the request takes of the capacity; nullopt: the amount is beyond 64 bits.
std::optional<Quantity> TakenOf(const SliceCapacity& capacity, const NamedAmounts& wanted,
                                bool fractional_ranges);

// What it takes of each of the device's capacities, where all of them can be represented.
NamedAmounts TakenOf(const SliceDevice& device, const NamedAmounts& wanted, bool fractional_ranges);

// Whether the request fits beside what is taken of the device: two lists, each by name.
CapacityFit FitsCapacity(const SliceDevice& device, const NamedAmounts& wanted,
                         const NamedAmounts& taken, const NamedAmounts& taken_too,
                         bool fractional_ranges);

// Adds amounts to those of the same names, or takes them away; what comes to nothing goes.
void AddAmounts(const NamedAmounts& more, NamedAmounts* sum);
void RemoveAmounts(const NamedAmounts& less, NamedAmounts* sum);

}  // namespace schedq
