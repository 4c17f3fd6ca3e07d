// Compares two samples of one metric, before and after: by how much it changed, and how sure that
// is.
//
// Purpose: the verdicts of `schedq compare` and of the time tier of `schedq gate`.
// When not to use it: counters of virtual runs are exact; compare them for equality.
// Threads: pure functions; any thread.
// Rules:
//  1. A metric is tested when somebody asked for it. Each tested metric is one hypothesis; the
//     others are described and have neither p nor verdict.
//  2. A tested metric is better or worse when two conditions hold. Its p of a rank test,
//     Holm-corrected for all tested metrics of the call, is below the significance. The ratio of
//     medians differs from 1 by more than the threshold.
//  3. A tested metric is the same when the whole interval of the ratio lies within the threshold
//     and each sample has as many values as the test needs for a single metric, or when all values
//     of both samples are equal.
//  4. Of every other tested metric the samples cannot tell; runs_needed says how many might.
#pragma once

#include <array>
#include <cstddef>
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

enum class ChangeVerdict : uint8_t { kBetter, kWorse, kSame, kCannotTell, kNotTested };

template <>
struct EnumText<ChangeVerdict> {
  static constexpr std::array<std::string_view, 5> kNames = {"better", "worse", "same",
                                                             "cannot tell", "not tested"};
};

// "faster", "slower", "smaller", "larger", "same", "cannot tell", "not tested".
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
  bool is_tested = true;
  // base[i] and next[i] were measured at the same time, and are all positive. The change is the
  // median of their ratios, and the test Wilcoxon's of signed ranks.
  bool is_paired = false;
};

// No number of runs up to this one would probably do.
inline constexpr uint64_t kRunsNeededMax = 1000;

struct Comparison {
  std::string name;
  MeasureKind kind = MeasureKind::kDuration;
  double base_median = 0;
  double next_median = 0;
  double ratio = 1;         // next / base; infinite when only base is 0.
  Interval ratio_interval;  // [0, infinity) when a value is not positive.
  double p = 1;             // Two-sided, before correction.
  double p_adjusted = 1;    // After Holm's correction over all tested metrics of the call.
  uint64_t base_runs = 0;
  uint64_t next_runs = 0;
  // Of each side, for a verdict in about nine of ten such comparisons; 0 where there is a verdict.
  uint64_t runs_needed = 0;
  bool is_paired = false;
  ChangeVerdict verdict = ChangeVerdict::kCannotTell;

  double Change() const { return ratio - 1; }
  // Nothing speaks for a change for the worse beyond the threshold: the verdict says so, or the bad
  // end of the interval lies within the threshold.
  bool IsNotWorse(const ComparisonOptions& options) const;
};

// The fewest runs of each side with which the rank test can find a change among so many tested
// metrics, and can say that a metric is the same. Of pairs, the fewest pairs.
uint64_t FewestRuns(uint64_t tested, double significance, bool is_paired = false);

// The results stand in the order of `metrics`.
std::vector<Comparison> CompareAll(std::span<const MetricSamples> metrics,
                                   const ComparisonOptions& options = {});

}  // namespace schedq
