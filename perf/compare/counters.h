// Compares the counters of two virtual runs, and the figures of their scenarios, which must be
// equal.
//
// Purpose: the semantic tier of `schedq gate`. Virtual runs are deterministic, so there is no noise
// to allow for: a counter that changed means that the queue did something else.
// When not to use it: on the real clock.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "perf/documents/run_document.h"
#include "perf/text/pattern.h"

namespace schedq {

// A counter whose name the expression finds may change by this fraction of its value before.
struct Allowance {
  std::string text;  // As the user wrote it.
  Pattern metric;
  double fraction = 0;
};

// "REGEX=PERCENT".
Result<Allowance> ParseAllowance(const std::string& text);

struct CounterChange {
  std::string workload;  // "case/workload"
  uint64_t seed = 0;     // The repetition's seed.
  std::string metric;    // Sample name, or "outcome".
  std::string before;    // "absent" where one side has no such workload.
  std::string after;
  double allowed = 0;  // The fraction of the allowance that applied.
};

struct CounterComparison {
  uint64_t workloads = 0;          // Both runs measured them.
  std::vector<std::string> names;  // Theirs, in the order of the base.
  uint64_t counters = 0;
  std::vector<CounterChange> failures;  // Beyond their allowance, in the order of the base.
  std::vector<CounterChange> allowed;   // Within their allowance.
  std::vector<std::string> notes;       // What was not compared, and why.
};

// Refuses a document that would be compared in part: a workload is there twice, or was measured
// without a repetition.
Status CheckMeasured(const RunDocument& document);

// Whether a repetition has a counter.
bool HasCounters(const RunDocument& document);

// Returns an error where the two cannot be compared, which is never a pass. The seed, the clock,
// the cost model or the number of repetitions differs, a run was interrupted, a document fails
// CheckMeasured, or the two have no workload or no counter in common.
Result<CounterComparison> CompareCounters(const RunDocument& base, const RunDocument& next,
                                          const std::vector<Allowance>& allowances);

}  // namespace schedq
