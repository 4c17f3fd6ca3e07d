// Changes many pods, one round after the other, as updatePods says.
//
// A round changes each pod that there was when it began. The creators share the calls.
// Threads: one, the one that advances the clock.
// Memory: the pods of a round.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/format/workload/model.h"
#include "bench/sim/run/simulation.h"

namespace schedq {

class UpdateStorm {
 public:
  // `op` outlives it, as the simulation does.
  UpdateStorm(Simulation* simulation, const UpdatePodsOp& op) : simulation_(simulation), op_(op) {}

  // The calls under way hold it.
  static void Begin(const std::shared_ptr<UpdateStorm>& storm);

  bool is_done() const { return round_ == op_.rounds; }

 private:
  void Update(uint64_t pod_number) const;

  Simulation* const simulation_;
  const UpdatePodsOp& op_;
  int64_t round_ = 0;  // Rounds that have ended.
};

}  // namespace schedq
