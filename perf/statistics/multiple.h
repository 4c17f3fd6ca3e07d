// Holm's correction for several tests at once.
//
// Purpose: with m metrics, the chance of even one false alarm stays at the stated level.
// Threads: pure function; any thread.
// Source: Holm, "A simple sequentially rejective multiple test procedure" (1979).
#pragma once

#include <span>
#include <vector>

namespace schedq {

// Adjusted p-values in the order given. A test is significant at level a exactly if its adjusted
// p-value is below a.
// Invariants: an adjusted value is not below the raw one and at most 1; their ranking is the same.
std::vector<double> HolmAdjusted(std::span<const double> p_values);

}  // namespace schedq
