// A claim storm: DynamicResources rejected N pods, each with its own claim, and updates of the
// claims come in random order.
//
//   claim update -> engine -> the one pod that uses the claim leaves the pool
#pragma once

#include <cstdint>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/event.h"
#include "engine/object.h"
#include "schedq/engine_kind.h"

namespace schedq {

// Answer: every event requeues one pod. With narrowing it judges exactly that pod, else every
// waiting pod. An operation is an event.
class ClaimStorm : public MeasuredPath {
 public:
  struct Options {
    EngineKind engine = EngineKind::kLockfree;
    bool narrows = true;
    int64_t pods = 0;
    int64_t events = 0;  // At most `pods`.
  };

  explicit ClaimStorm(const Options& options);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  // The number of waiting pods at each event, summed over all events.
  uint64_t PodsWaiting() const;

  const Options options_;
  EngineStage stage_;
  std::vector<ObjectChange> changes_;
  const ClusterEvent event_;
};

}  // namespace schedq
