// Bootstrap confidence intervals for medians.
//
// Purpose: the uncertainty of a median, or of a ratio of two medians, without an assumption about
// the distribution.
// When not to use it: with fewer than about eight repetitions the interval is too narrow.
// Threads: pure functions; any thread. One seed gives the same interval on every machine.
// Bounds: O(resamples * values) time, O(resamples + values) memory.
// Accuracy: over 4,000 seeded log-normal samples of each size from 10 to 20 values, nominal 95 %
// intervals of 500 resamples covered the true median in 92 to 94 %, the true ratio in 95 to 97 %.
// Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 13 and 14.
#pragma once

#include <cstdint>
#include <span>

#include "perf/statistics/interval.h"

namespace schedq {

enum class BootstrapMethod : uint8_t {
  kPercentile,
  kBiasCorrected,  // BCa: corrects bias and skewness; falls back to kPercentile without spread.
};

struct BootstrapOptions {
  uint64_t seed = 1;
  uint64_t resamples = 2000;
  double confidence = 0.95;
  BootstrapMethod method = BootstrapMethod::kBiasCorrected;
};

// `sample` has at least one value.
Interval MedianInterval(std::span<const double> sample, const BootstrapOptions& options = {});

// The interval of median(next) / median(base). Each has at least one value, and all are positive.
Interval MedianRatioInterval(std::span<const double> base, std::span<const double> next,
                             const BootstrapOptions& options = {});

}  // namespace schedq
