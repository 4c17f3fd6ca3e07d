// Two samples of one metric, before and after: did it change, by how much, how sure.
//
// Purpose: the kernel of `schedq compare` and of the time tier of `schedq gate`.
// When not to use it: counters of virtual runs, which are exact; compare those by equality.
// Threads: pure functions; any thread.
// Rule: a metric is better or worse when its Mann-Whitney p, Holm-corrected for all metrics
// compared together, is below the significance AND the ratio of medians differs from 1 by more than
// the threshold. It is the same when the whole interval of the ratio lies within the threshold (or
// when all values of both samples are one value). Everything else is inconclusive: measure more.
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

// What a metric measures decides what is better and which word says so.
enum class MeasureKind : uint8_t {
  kDuration,  // Lower is better: faster, slower.
  kRate,      // Higher is better: faster, slower.
  kSize,      // Lower is better: smaller, larger.
};

// From the unit: anything per second is a rate, bytes and counts are sizes, the rest are durations.
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
  double threshold = 0.05;     // Relative change of the median that matters.
  double significance = 0.01;  // After correction.
  BootstrapOptions bootstrap;
};

struct MetricSamples {
  std::string name;
  MeasureKind kind = MeasureKind::kDuration;
  std::vector<double> base;  // At least one value each.
  std::vector<double> next;
};

struct Comparison {
  std::string name;
  MeasureKind kind = MeasureKind::kDuration;
  double base_median = 0;
  double next_median = 0;
  double ratio = 1;         // next / base; infinite when only base is 0.
  Interval ratio_interval;  // [0, infinity) when a value is not positive.
  double p = 1;             // Two-sided, as tested.
  double p_adjusted = 1;    // After Holm over all metrics of the call.
  ChangeVerdict verdict = ChangeVerdict::kInconclusive;

  double Change() const { return ratio - 1; }
};

// In the order of `metrics`.
std::vector<Comparison> CompareAll(std::span<const MetricSamples> metrics,
                                   const ComparisonOptions& options = {});

}  // namespace schedq
