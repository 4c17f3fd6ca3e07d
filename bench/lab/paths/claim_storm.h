// N pods rejected by DynamicResources, each with its own claim; updates of claims in random order.
//
//   claim update -> engine -> the one pod that uses the claim leaves the pool
#pragma once

#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"

namespace schedq {

// Answer: every event requeues one pod; narrowed ones judge exactly that pod, others every pod that
// waits. An operation is an event.
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
  // The sum over all events of the pods that wait when the event comes.
  uint64_t PodsWaiting() const;

  const Options options_;
  EngineStage stage_;
  std::vector<ObjectChange> changes_;
  const ClusterEvent event_;
};

}  // namespace schedq
