// The machine's floor: costs that no queue on this machine can go below.
//
// Purpose: `schedq floor`, and the distance to the floor that other commands print. Every probe
// checks its own answer (a sum, a count, the end of a chain), so that the compiler removes no work
// and a broken probe aborts instead of reporting a small number.
// When not to use it: for the cost of a data structure; that is bench/lab/micro.
// Threads: one caller; probes start and join threads of their own.
// Memory: about 480 MiB for FloorSize::kFull and 24 MiB for kQuick, freed at the end.
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

// One quantity to measure. `once` measures one repetition, in the measurement's unit.
struct FloorProbe {
  Measurement measurement;
  std::function<double()> once;
  std::string obstacle;  // The reason why this machine cannot measure it; empty if it can.
};

std::vector<FloorProbe> AllProbes(FloorSize size);

// Each family of probes has a file of its own.
void AddAtomicProbes(std::vector<FloorProbe>& probes, FloorSize size);
void AddMemoryProbes(std::vector<FloorProbe>& probes, FloorSize size);
void AddKernelProbes(std::vector<FloorProbe>& probes, FloorSize size);

// Called before each round with its number, from 1, and the number of rounds.
using FloorProgress = std::function<void(int round, int rounds)>;

// Runs all probes once a round, so that a disturbance affects one repetition of many probes instead
// of all repetitions of one. An interrupt ends the run; finished repetitions stay.
void RunProbes(std::vector<FloorProbe>& probes, FloorSize size, const FloorProgress& progress);

}  // namespace schedq
