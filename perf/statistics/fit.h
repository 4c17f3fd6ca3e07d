// Least-squares lines, and the exponent of a cost over size.
//
// Purpose: the growth of a cost (cost ~ size^exponent) and its uncertainty.
// When not to use it: to extrapolate far beyond the sizes that were measured.
// Threads: pure functions; any thread.
// Source: ordinary least squares; Student's t for the interval of the slope.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/result.h"
#include "perf/statistics/interval.h"

namespace schedq {

struct LineFit {
  double slope = 0;
  double intercept = 0;
  double slope_standard_error = 0;
  Interval slope_interval;  // At `confidence`.
  double confidence = 0;
  double r_squared = 1;  // 1 also for a perfectly flat line.
  uint64_t points = 0;
};

// Returns an error for fewer than three points or fewer than two different x.
Result<LineFit> FitLine(std::span<const double> x, std::span<const double> y,
                        double confidence = 0.95);

// Fits the line through (ln x, ln y): its slope is the exponent, exp(intercept) the factor. Returns
// an error also where a value is not positive and finite.
Result<LineFit> FitLogLog(std::span<const double> x, std::span<const double> y,
                          double confidence = 0.95);

// The value of a log-log fit at x.
double PowerAt(const LineFit& fit, double x);

enum class FitVerdict : uint8_t {
  kYes,      // The whole interval of the slope is at most the bound.
  kNo,       // The whole interval is above the bound.
  kUnclear,  // The interval contains the bound: more repetitions are needed.
};

FitVerdict SlopeAtMost(const LineFit& fit, double bound);

}  // namespace schedq
