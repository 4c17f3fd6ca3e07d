// How many objects a workload creates, estimated before it runs.
//
// Purpose: a churn of 1 ms beside a sleep of a year fits in one line and no memory. A workload that
// would create more than kObjectCountMax is refused; where the estimate is too low, because a wait
// took long, the run itself ends at the limit (Cluster::created).
// Threads: pure functions.
#pragma once

#include <cstdint>

#include "bench/format/workload/model.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {

// Objects that a workload may create, those that it deletes again included. An object takes some 2
// KB until it is deleted.
inline constexpr uint64_t kObjectCountMax = 1'000'000;

struct ObjectEstimate {
  double objects = 0;
  double of_largest = 0;    // Of the operation that creates most.
  int line = 0;             // That operation's line.
  const char* opcode = "";  // That operation's name, as long as the workload lives.
};

// Counts the waits of operations as none. `replacement` is the least time in which a steady state
// deletes a pod and creates another.
ObjectEstimate EstimateObjects(const Workload& workload, Duration replacement);

// Refuses a workload beyond kObjectCountMax. The error names the operation that creates most.
Status CheckObjectCount(const TestCase& test_case, const Workload& workload, Duration replacement);

}  // namespace schedq
