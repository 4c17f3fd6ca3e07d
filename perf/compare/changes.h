// Measured metrics of two sets of results: change, confidence and verdict of each.
//
// Rule: metrics of virtual runs are exact, so their verdict is that of the medians alone, beyond
// the threshold; all others are judged by perf/statistics/comparison.h. Threads: pure functions.
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
  std::vector<Change> metrics;  // By name: what both have.
  std::vector<std::string> only_base;
  std::vector<std::string> only_next;

  bool AnyWorse() const;
};

Changes CompareMetrics(const Results& base, const Results& next, const ComparisonOptions& options);

}  // namespace schedq
