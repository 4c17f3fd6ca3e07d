// What a measured section on the real clock has beyond one on the virtual clock: processor time by
// part of the work and by thread, allocations, and conflicts.
//
// Threads: one, the cluster's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/allocation_meter.h"
#include "bench/sim/measure/step_times.h"
#include "bench/sim/real/part_clock.h"
#include "bench/sim/run/simulation.h"
#include "perf/documents/real_figures.h"

namespace schedq {

struct SectionLatencies;

class RealSection {
 public:
  explicit RealSection(Simulation* simulation);

  // `latencies` gets those that threads of the scheduler measured, `steps` what its steps took.
  RealFigures Finish(SectionLatencies* latencies, StepTimes* steps) const;

 private:
  using Usages = std::map<std::string, ThreadUsage>;

  // Counts, the time of hints, and the time since the epoch that was not quiet.
  StepTimes CountsNow() const;
  Usages UsagesNow() const;
  static void AddTimes(const std::string& thread, const ThreadUsage& usage, StepTimes* steps);

  Simulation* const simulation_;
  const Usages before_;
  const double process_before_;
  const uint64_t conflicts_before_;
  const StepTimes counts_before_;
  const AllocationMeter allocations_;  // Last, because starting it takes time.
};

}  // namespace schedq
