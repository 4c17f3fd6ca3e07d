// What this machine can do: the costs that no queue can go below.
//
// Purpose: `schedq floor`, and the distance to the floor that other commands print. Every probe
// checks its own answer (a sum, a count, the end of a chain), so that nothing is optimised away and
// a broken probe aborts instead of reporting a small number.
// When not to use it: for the cost of a data structure; that is bench/lab/micro.
// Threads: one caller; probes start and join threads of their own.
// Memory: about 480 MiB for FloorSize::kFull, 24 MiB for kQuick, returned at the end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "perf/statistics/measurement.h"

namespace schedq {

enum class FloorSize {
  kFull,   // Under 15 seconds.
  kQuick,  // For CI, under 2 seconds: fewer repetitions, no working set beyond 4 MiB.
};

// One quantity. `once` takes one repetition, in the measurement's unit.
struct FloorProbe {
  Measurement measurement;
  std::function<double()> once;
  std::string obstacle;  // Why this machine cannot measure it; empty if it can.
};

std::vector<FloorProbe> AllProbes(FloorSize size);

// One family of probes a file.
void AddAtomicProbes(std::vector<FloorProbe>& probes, FloorSize size);
void AddMemoryProbes(std::vector<FloorProbe>& probes, FloorSize size);
void AddKernelProbes(std::vector<FloorProbe>& probes, FloorSize size);

// Called before each round with its number from 1 and how many there are.
using FloorProgress = std::function<void(int round, int rounds)>;

// Runs all probes once a round, so that a disturbance hits one repetition of many probes and not
// all repetitions of one. Stops early when interrupted; what was measured stays.
void RunProbes(std::vector<FloorProbe>& probes, FloorSize size, const FloorProgress& progress);

}  // namespace schedq
