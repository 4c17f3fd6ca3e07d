// Holm's correction for several tests at once.
//
// Purpose: with m metrics, keep the chance of even one false alarm at the stated level.
// Threads: pure function; any thread.
// Source: Holm, "A simple sequentially rejective multiple test procedure" (1979).
#pragma once

#include <span>
#include <vector>

namespace schedq {

// Adjusted p-values in the order given: a test is significant at level a exactly if its adjusted
// p-value is below a. Invariants: not below the raw value, at most 1, in the same order.
std::vector<double> HolmAdjusted(std::span<const double> p_values);

}  // namespace schedq
