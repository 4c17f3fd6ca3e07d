// Measured metrics of two sets of results: change, confidence and verdict of each.
//
// Rules:
//  1. A metric is tested where somebody asked for it: throughput, what a threshold selects, the
//     product's own times in micro-benchmarks, and what a pattern finds. The others are shown only.
//  2. Metrics of virtual runs are exact, so the ratio of their medians alone decides whether they
//     changed beyond the threshold. perf/statistics/comparison.h judges all other metrics.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "perf/compare/results.h"
#include "perf/statistics/comparison.h"
#include "perf/text/pattern.h"

namespace schedq {

struct Change {
  Comparison comparison;
  std::string unit;
  std::string place;  // As in ResultMetric.
  std::string what;
  bool is_exact = false;
};

struct Changes {
  std::vector<Change> metrics;  // Those that both sides have, by name.
  std::vector<std::string> only_base;
  std::vector<std::string> only_next;
  // Of only_base, those that would have been tested.
  std::vector<std::string> lost;
  // What the two were measured with, where it differs.
  std::vector<std::string> differences;

  bool AnyWorse() const;
  size_t Tested() const;
  size_t CountOf(ChangeVerdict verdict) const;
};

struct ChangesRequest {
  ComparisonOptions options;
  std::optional<Pattern> asked_for;  // Metrics that are tested beside those of rule 1.
  bool is_paired = false;            // Values of one number were measured at the same time.
};

// An error, which is one line: the two are of other work, have no metric in common, or none that
// anybody asked for.
Result<Changes> CompareMetrics(const Results& base, const Results& next,
                               const ChangesRequest& request = {});

}  // namespace schedq
