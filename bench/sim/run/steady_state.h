// Keeps the number of a cluster's pods constant: it deletes every pod that gets a node, and creates
// another one.
//
// The creators make the first pods. Then one worker deletes and creates, one call after the other,
// in the order in which pods were scheduled.
// Threads: one, the one that advances the clock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "bench/format/workload/model.h"
#include "bench/sim/run/simulation.h"
#include "engine/base/result.h"

namespace schedq {

class SteadyState {
 public:
  // Returns an error where the template does not render.
  static Result<std::unique_ptr<SteadyState>> Start(Simulation* simulation, const CreatePodsOp& op);
  ~SteadyState();
  SteadyState(const SteadyState&) = delete;
  SteadyState& operator=(const SteadyState&) = delete;

  uint64_t scheduled() const { return scheduled_; }

 private:
  SteadyState(Simulation* simulation, const CreatePodsOp& op, ApiObjectRef replacement)
      : simulation_(simulation),
        namespace_(op.namespace_name),
        replacement_(std::move(replacement)) {}

  void ReplaceNext();

  Simulation* const simulation_;
  const std::string namespace_;
  const ApiObjectRef replacement_;
  std::deque<uint64_t> to_replace_;
  bool is_busy_ = false;
  uint64_t scheduled_ = 0;
  // Calls under way hold a weak reference to it, because they must do nothing after the end.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace schedq
