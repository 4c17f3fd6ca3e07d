// The path that every pod takes: all N pods are added, then each is popped and done.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/pod.h"
#include "schedq/engine_kind.h"

namespace schedq {

// Answer: every pod is popped once, higher priorities first. An operation is a pod.
class PodLife : public MeasuredPath {
 public:
  PodLife(EngineKind engine, int64_t pod_count);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  const std::vector<PodRef> pods_;
  EngineStage stage_;
  uint64_t popped_count_ = 0;
  bool is_in_order_ = true;
};

}  // namespace schedq
