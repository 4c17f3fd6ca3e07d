// Least-squares lines, and the exponent of a cost over size.
//
// Purpose: say how a cost grows (cost ~ size^exponent) and how sure that is.
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
  Interval slope_interval;  // At the confidence that was asked for.
  double confidence = 0;
  double r_squared = 1;  // 1 also for a perfectly flat line.
  uint64_t points = 0;
};

// An error when there are fewer than three points or fewer than two different x.
Result<LineFit> FitLine(std::span<const double> x, std::span<const double> y,
                        double confidence = 0.95);

// The line through (ln x, ln y): slope is the exponent, exp(intercept) the factor. An error also
// when a value is not positive and finite.
Result<LineFit> FitLogLog(std::span<const double> x, std::span<const double> y,
                          double confidence = 0.95);

// What a log-log fit gives at x.
double PowerAt(const LineFit& fit, double x);

enum class FitVerdict : uint8_t {
  kYes,      // The whole interval of the slope is at most the bound.
  kNo,       // The whole interval is above it.
  kUnclear,  // The interval straddles it: measure more.
};

FitVerdict SlopeAtMost(const LineFit& fit, double bound);

}  // namespace schedq
