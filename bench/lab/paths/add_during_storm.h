// How long Add takes, at 1,000 a second, while a claim storm that is not narrowed is judged.
//
//   storm thread: claim updates, back to back, each judged over all N rejected pods
//   this thread:  Add at fixed instants; latency counts from the instant that was intended
//
// When not to use it: as a MeasuredPath; its result is a distribution, not a duration.
#pragma once

#include <cstdint>

#include "perf/statistics/latency.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct AddDuringStorm {
  LatencySummary latency;
  const char* fault = nullptr;  // Null: every event and every add did what it must.
};

// Ends with the storm, or after `adds_max` adds.
AddDuringStorm MeasureAddDuringStorm(EngineKind engine, int64_t pod_count, int64_t adds_max);

}  // namespace schedq
