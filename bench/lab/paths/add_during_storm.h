// The latency of Add, at 1,000 a second, while a claim storm without narrowing is judged.
//
//   storm thread: claim updates, back to back, each judged over all N rejected pods
//   this thread:  Add at fixed instants; a latency starts at the intended instant
//
// When not to use it: as a MeasuredPath, because its result is a distribution, not a duration.
#pragma once

#include <cstdint>

#include "perf/statistics/latency.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct AddDuringStorm {
  LatencySummary latency;
  const char* fault = nullptr;  // What is wrong with the answer; null: nothing.
};

// The measurement ends with the storm, or after `adds_max` adds.
AddDuringStorm MeasureAddDuringStorm(EngineKind engine, int64_t pod_count, int64_t adds_max);

}  // namespace schedq
