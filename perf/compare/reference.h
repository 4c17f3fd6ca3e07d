// Compares runs on the virtual clock with measured runs of the real scheduler.
//
// Purpose: a model is as good as its counters: how pods are attempted, what brings them back, which
// plugins are asked and what is written. Times come second.
// When not to use it: for two runs of schedq, whose counters must be equal; that is counters.h.
// Threads: pure functions.
// Rules:
//  1. Families are attempts by result, requeues by "queue|event", hints by "plugin|answer" and
//     calls by "type|result". A counter that is zero on both sides is none.
//  2. Several measured runs are a range: what lies in it is equal, and the distance of what does
//     not counts from its nearer end. Of several repetitions of ours each counter's median counts.
//  3. Times count only of measured runs that had the machine for themselves, and that were long
//     enough for scheduler_perf's own samples.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "perf/documents/reference_comparison.h"
#include "perf/documents/upstream_runs.h"

namespace schedq {

// Others may use so much of the machine while times are measured.
inline constexpr double kBusyByOthersMax = 0.1;

// What a whole run has counted, by sample name with labels, and its measured sections.
struct WholeRun {
  std::map<std::string, uint64_t> counters;
  uint64_t pods_bound = 0;
  double active_seconds = 0;  // From the first pod of a section to the last that was bound, summed.
};

Closeness ClosenessOf(uint64_t count, uint64_t reference_min, uint64_t reference_max);

// `runs` are the repetitions of the reference's workload, at least one.
ReferenceComparison CompareWithReference(const UpstreamRuns& reference,
                                         const std::vector<WholeRun>& runs);

// Of all that were compared.
ReferenceSummary SummaryOf(const std::vector<ReferenceComparison>& comparisons);

}  // namespace schedq
