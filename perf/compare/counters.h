// The counters of two virtual runs: equal, or a difference that somebody must explain.
//
// Purpose: the semantic tier of `schedq gate`. Virtual runs are deterministic, so there is no noise
// to allow for: a counter that changed means that the queue did something else.
// When not to use it: on the real clock.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "perf/documents/run_document.h"

namespace schedq {

// Counters that the expression finds may change by this fraction of their value before.
struct Allowance {
  std::string text;  // As it was given.
  std::regex metric;
  double fraction = 0;
};

// "REGEX=PERCENT".
Result<Allowance> ParseAllowance(const std::string& text);

struct CounterChange {
  std::string workload;  // "case/workload"
  uint64_t seed = 0;     // Of the repetition.
  std::string metric;    // Sample name, or "outcome".
  std::string before;    // "absent" where one side has no such workload.
  std::string after;
  double allowed = 0;  // The fraction that applied.
};

struct CounterComparison {
  uint64_t workloads = 0;  // Measured in both and compared.
  uint64_t counters = 0;
  std::vector<CounterChange> failures;  // In the order of the base's workloads.
  std::vector<CounterChange> allowed;   // Changed within their allowance.
  std::vector<std::string> notes;       // What was not compared, and why.
};

// An error: the two cannot be compared (another seed, clock, cost model or number of repetitions, a
// run that was interrupted, or nothing in common), which is never a pass.
Result<CounterComparison> CompareCounters(const RunDocument& base, const RunDocument& next,
                                          const std::vector<Allowance>& allowances);

}  // namespace schedq
