// Compares two samples of one metric, before and after: by how much it changed, and how sure that
// is.
//
// Purpose: the verdicts of `schedq compare` and of the time tier of `schedq gate`.
// When not to use it: counters of virtual runs are exact; compare them for equality.
// Threads: pure functions; any thread.
// Rules:
//  1. A metric is better or worse when two conditions hold. Its Mann-Whitney p, Holm-corrected for
//     all metrics compared together, is below the significance. The ratio of medians differs from 1
//     by more than the threshold.
//  2. A metric is the same when the whole interval of the ratio lies within the threshold, or when
//     all values of both samples are equal.
//  3. Every other metric is inconclusive: more repetitions are needed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perf/documents/enum_text.h"
#include "perf/statistics/bootstrap.h"
#include "perf/statistics/interval.h"

namespace schedq {

// The kind of a metric decides which direction is better, and the word for it.
enum class MeasureKind : uint8_t {
  kDuration,  // Lower is better: faster, slower.
  kRate,      // Higher is better: faster, slower.
  kSize,      // Lower is better: smaller, larger.
};

// A unit per second is a rate, bytes and counts are sizes, all others are durations.
MeasureKind MeasureKindOfUnit(std::string_view unit);

enum class ChangeVerdict : uint8_t { kBetter, kWorse, kSame, kInconclusive };

template <>
struct EnumText<ChangeVerdict> {
  static constexpr std::array<std::string_view, 4> kNames = {"better", "worse", "same",
                                                             "inconclusive"};
};

// "faster", "slower", "smaller", "larger", "same", "inconclusive".
std::string_view VerdictWord(ChangeVerdict verdict, MeasureKind kind);

struct ComparisonOptions {
  double threshold = 0.05;     // The smallest relative change of the median that matters.
  double significance = 0.01;  // For p-values after Holm's correction.
  BootstrapOptions bootstrap;
};

struct MetricSamples {
  std::string name;
  MeasureKind kind = MeasureKind::kDuration;
  std::vector<double> base;  // Each of the two has at least one value.
  std::vector<double> next;
};

struct Comparison {
  std::string name;
  MeasureKind kind = MeasureKind::kDuration;
  double base_median = 0;
  double next_median = 0;
  double ratio = 1;         // next / base; infinite when only base is 0.
  Interval ratio_interval;  // [0, infinity) when a value is not positive.
  double p = 1;             // Two-sided, before correction.
  double p_adjusted = 1;    // After Holm's correction over all metrics of the call.
  ChangeVerdict verdict = ChangeVerdict::kInconclusive;

  double Change() const { return ratio - 1; }
};

// The results stand in the order of `metrics`.
std::vector<Comparison> CompareAll(std::span<const MetricSamples> metrics,
                                   const ComparisonOptions& options = {});

}  // namespace schedq
