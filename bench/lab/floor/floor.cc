#include "bench/lab/floor/floor.h"

#include "bench/interrupt.h"

namespace schedq {

std::vector<FloorProbe> AllProbes(FloorSize size) {
  std::vector<FloorProbe> probes;
  AddAtomicProbes(probes, size);
  AddMemoryProbes(probes, size);
  AddKernelProbes(probes, size);
  return probes;
}

void RunProbes(std::vector<FloorProbe>& probes, FloorSize size, const FloorProgress& progress) {
  const int rounds = size == FloorSize::kFull ? 21 : 5;
  for (int round = 1; round <= rounds; ++round) {
    progress(round, rounds);
    for (FloorProbe& probe : probes) {
      if (Interrupted()) return;
      if (!probe.obstacle.empty()) continue;
      probe.measurement.repetitions.push_back(probe.once());
    }
  }
}

}  // namespace schedq
