// From what a plugin counts for each node to scores of 0 to kScoreMax, as kube-scheduler does it.
// Threads: pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "bench/sim/placing/placing_plugin.h"

namespace schedq {

// The largest count is worth most, and 0 nothing.
inline void NormalizeToMost(std::span<int64_t> counts) {
  const int64_t most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  if (most == 0) return;
  for (int64_t& count : counts) count = kScoreMax * count / most;
}

// 0 is worth most, and the largest count nothing.
inline void NormalizeToFewest(std::span<int64_t> counts) {
  NormalizeToMost(counts);
  for (int64_t& count : counts) count = kScoreMax - count;
}

// The largest count is worth most, and the smallest nothing. Counts may be negative.
inline void NormalizeBetween(std::span<int64_t> counts) {
  if (counts.empty()) return;
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  const int64_t lowest = *least;
  const auto range = static_cast<double>(*most - lowest);
  for (int64_t& count : counts) {
    const auto above = static_cast<double>(count - lowest);
    count = range > 0 ? static_cast<int64_t>(static_cast<double>(kScoreMax) * (above / range)) : 0;
  }
}

}  // namespace schedq
