// How many objects a workload holds at once, estimated before it runs.
//
// Purpose: a churn of 1 ms beside a sleep of a year fits in one line and no memory. A workload that
// would hold more than kObjectCountMax is refused; where the estimate is too low, because a wait
// took long, the run itself ends at the limit (Cluster::object_count).
// Threads: pure functions.
#pragma once

#include <cstdint>

#include "bench/format/workload/model.h"
#include "engine/base/result.h"

namespace schedq {

// An object takes some 2 KB until it is deleted.
inline constexpr uint64_t kObjectCountMax = 4'000'000;

struct ObjectEstimate {
  double objects = 0;
  double of_largest = 0;    // Of the operation that holds most.
  int line = 0;             // That operation's line.
  const char* opcode = "";  // That operation's name, as long as the workload lives.
};

// Counts the waits of operations as none, and deletes nothing but what a churn or a steady state
// replaces.
ObjectEstimate EstimateObjects(const Workload& workload);

// Refuses a workload beyond kObjectCountMax. The error names the operation that holds most.
Status CheckObjectCount(const TestCase& test_case, const Workload& workload);

}  // namespace schedq
