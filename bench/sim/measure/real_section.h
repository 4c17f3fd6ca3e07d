// What a measured section on the real clock has beyond one on the virtual clock: processor time by
// part of the work and by thread, allocations, and conflicts.
//
// Threads: one, the cluster's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/allocation_meter.h"
#include "bench/sim/real/part_clock.h"
#include "bench/sim/run/simulation.h"
#include "perf/documents/real_figures.h"

namespace schedq {

struct SectionLatencies;

class RealSection {
 public:
  explicit RealSection(Simulation* simulation);

  // `latencies` gets those that scheduling threads measured.
  RealFigures Finish(SectionLatencies* latencies) const;

 private:
  using Usages = std::map<std::string, ThreadUsage>;

  Usages UsagesNow() const;

  Simulation* const simulation_;
  const Usages before_;
  const double process_before_;
  const uint64_t conflicts_before_;
  const AllocationMeter allocations_;  // Last, because starting it takes time.
};

}  // namespace schedq
