// Objects that come and go beside a workload, until it ends.
//
// create: at every tick one of each object, `number` times (0: without end). recreate: slot = tick
// mod `number`; at a tick each object's slot is filled if it is empty and emptied if it is not.
// Threads: one, that which advances the clock.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/run/simulation.h"

namespace schedq {

class Churn {
 public:
  // Renders each object once. An error: a template does not render.
  static Result<std::unique_ptr<Churn>> Start(Simulation* simulation, const ChurnOp& op);
  ~Churn() { simulation_->clock().Cancel(ticker_); }
  Churn(const Churn&) = delete;
  Churn& operator=(const Churn&) = delete;

 private:
  Churn(Simulation* simulation, const ChurnOp& op, std::vector<ApiObjectRef> objects);

  void Tick();
  void Create(size_t object, std::optional<ObjectHandle>* slot);

  Simulation* const simulation_;
  const bool recreate_;
  const int64_t number_;
  const std::string namespace_;
  const std::vector<ApiObjectRef> objects_;
  std::vector<std::vector<std::optional<ObjectHandle>>> slots_;  // By object, for recreate.
  int64_t ticks_ = 0;
  TimerId ticker_ = 0;
};

}  // namespace schedq
