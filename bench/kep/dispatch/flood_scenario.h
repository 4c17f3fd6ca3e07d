// Bindings amid a flood of status patches, the case for which upstream switched its gate off.
//
//   100,000 patches, all due  -->  +-------+   50 calls a second
//   10 bindings a second      -->  | calls | ------------------->  server
//                                  +-------+
//
// The product's queue and upstream's design (a FIFO) get the same patches, bindings and rate.
// Threads: the caller's. Deterministic.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/base/time/time.h"

namespace schedq {

struct FloodOptions {
  uint64_t seed = 1;
  uint64_t patches = 100'000;
  uint64_t bindings = 600;
  Duration binding_interval = std::chrono::milliseconds(100);
  double calls_per_second = 50;
  uint32_t burst = 100;
  Duration latency = std::chrono::milliseconds(10);
};

struct FloodOutcome {
  // The time from Add to the start of each binding, ascending.
  std::vector<Duration> waits;
  uint64_t bindings_done = 0;
  // The number of patches that the server executed before the last binding was added.
  uint64_t patches_meanwhile = 0;

  Duration WaitAt(double quantile) const;
};

FloodOutcome RunFlood(const FloodOptions& options);
FloodOutcome RunFloodOnFifo(const FloodOptions& options);

}  // namespace schedq
