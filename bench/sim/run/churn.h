// Creates and deletes objects beside a workload, until the workload ends.
//
// create: each tick creates one of each object, for `number` ticks (0: without end).
// recreate: each object has `number` slots. A tick uses the slot number tick mod `number`: it
// creates the object where the slot is empty, else it deletes the slot's object.
// Threads: one, the one that advances the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/workload/model.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/run/simulation.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"

namespace schedq {

class Churn {
 public:
  // Renders each object once. Returns an error where a template does not render.
  static Result<std::unique_ptr<Churn>> Start(Simulation* simulation, const ChurnOp& op);
  ~Churn() { Stop(); }
  Churn(const Churn&) = delete;
  Churn& operator=(const Churn&) = delete;

  // Ends the ticks. Calls under way still take effect, while the object lives.
  void Stop() { simulation_->clock().Cancel(ticker_); }

 private:
  Churn(Simulation* simulation, const ChurnOp& op, std::vector<ApiObjectRef> objects);

  void Tick();
  void Create(size_t object, std::optional<ObjectHandle>* slot);

  Simulation* const simulation_;
  const bool recreate_;
  const int64_t number_;
  const std::string namespace_;
  const std::vector<ApiObjectRef> objects_;
  std::vector<std::vector<std::optional<ObjectHandle>>> slots_;  // For recreate, by object.
  int64_t ticks_ = 0;
  TimerId ticker_ = 0;
};

}  // namespace schedq
