// Measured metrics of two sets of results: change, confidence and verdict of each.
//
// Rule: metrics of virtual runs are exact, so the ratio of their medians alone decides whether they
// changed beyond the threshold. perf/statistics/comparison.h judges all other metrics.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "perf/compare/results.h"
#include "perf/statistics/comparison.h"

namespace schedq {

struct Change {
  Comparison comparison;
  std::string unit;
  bool is_exact = false;
};

struct Changes {
  std::vector<Change> metrics;  // Those that both sides have, by name.
  std::vector<std::string> only_base;
  std::vector<std::string> only_next;

  bool AnyWorse() const;
};

Changes CompareMetrics(const Results& base, const Results& next, const ComparisonOptions& options);

}  // namespace schedq
