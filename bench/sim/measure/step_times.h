// What the steps of a run on the real clock took, and the cost model that follows from it.
//
// Purpose: `schedq run --write-costs`. A run on the virtual clock with that model predicts what the
// same code takes under another workload.
// Method: threads share few processors and wait for each other, which the virtual scheduler does
// not. So an attempt is all the time in which anybody had something to do, less the other steps:
// one after the other, all steps take the time that the run took; where they took more, because
// threads worked side by side, each is cut to its share. What the API server's thread took is the
// client's rate. Times of other threads are processor times.
// Threads: pure data and functions.
#pragma once

#include <cstdint>
#include <string>

#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"

namespace schedq {

// Sums over measured sections; times in seconds.
struct StepTimes {
  double server = 0;   // The cluster's thread, not idle.
  double busy = 0;     // While a thread of scheduler or server had something to do.
  double popping = 0;  // The scheduling thread, at the queue's operations.
  double placing = 0;  // The scheduling thread, at filters and scores.
  double adding = 0;   // Processor time: telling the queue of pods, bound ones too.
  double events = 0;   // Processor time: telling it of all else, with the hints.
  double hints = 0;    // Of that, the hints.
  uint64_t client_calls = 0;
  uint64_t attempts = 0;
  uint64_t nodes_looked_at = 0;
  uint64_t pods_told = 0;    // Changes of pods.
  uint64_t events_told = 0;  // Changes of all else.
  uint64_t hints_asked = 0;

  void Add(const StepTimes& more);
};

// An error: the sections had no attempt.
Result<CostModel> CostsOf(const StepTimes& measured, const std::string& name);
// The file that ParseCostModel reads. `comment` stands above it.
std::string CostModelText(const CostModel& costs, const std::string& comment);

}  // namespace schedq
