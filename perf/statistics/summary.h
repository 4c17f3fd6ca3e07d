// Order statistics, mean and spread of a handful of repetitions.
//
// Purpose: to describe small samples, such as the repetitions of a measurement.
// When not to use it: latencies of single operations come in millions and go into a
// LatencyHistogram.
// Threads: pure functions; any thread.
// Source: quantiles are type 7 of Hyndman and Fan, "Sample quantiles in statistical packages"
// (1996), the default of R and NumPy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace schedq {

// The values in ascending order.
std::vector<double> Sorted(std::span<const double> values);

// The quantile at `fraction` in [0, 1] of one or more values in ascending order.
double QuantileOfSorted(std::span<const double> sorted, double fraction);

// The following take one or more values in any order.
double Quantile(std::span<const double> values, double fraction);
double Median(std::span<const double> values);
double Mean(std::span<const double> values);

// Has n - 1 in the denominator; 0 for fewer than two values.
double StandardDeviation(std::span<const double> values);

// The median distance to the median, unscaled: multiply by 1.4826 to compare it with the standard
// deviation of normal data.
double MedianAbsoluteDeviation(std::span<const double> values);

struct Summary {
  uint64_t count = 0;  // With 0 every other field is 0.
  double min = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double max = 0;
  double mean = 0;
  double standard_deviation = 0;
  double median_absolute_deviation = 0;
  double spread = 0;  // (max - min) / |median|; 0 when the median is 0.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("count", self.count, "How many repetitions there are.");
    archive.Field("min", self.min, "The smallest.");
    archive.Field("lower_quartile", self.lower_quartile, "A quarter lies below it.");
    archive.Field("median", self.median, "Half lies below it.");
    archive.Field("upper_quartile", self.upper_quartile, "Three quarters lie below it.");
    archive.Field("max", self.max, "The largest.");
    archive.Field("mean", self.mean, "The arithmetic mean.");
    archive.Field("standard_deviation", self.standard_deviation, "With n - 1 below the line.");
    archive.Field("median_absolute_deviation", self.median_absolute_deviation,
                  "The median distance to the median.");
    archive.Field("spread", self.spread, "(max - min) / |median|.");
  }
};

Summary Summarize(std::span<const double> values);

}  // namespace schedq
