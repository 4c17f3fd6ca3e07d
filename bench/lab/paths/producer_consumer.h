// One thread adds all N pods while another pops each and ends its attempt.
//
//   producer: Add -> queue -> consumer: Pop, Done
#pragma once

#include <cstdint>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/pod.h"
#include "schedq/engine_kind.h"

namespace schedq {

// Answer: every pod is popped once. An operation is a pod.
class ProducerConsumer : public MeasuredPath {
 public:
  ProducerConsumer(EngineKind engine, int64_t pod_count);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  const std::vector<PodRef> pods_;
  EngineStage stage_;
  std::vector<bool> is_popped_;
  uint64_t popped_count_ = 0;
};

}  // namespace schedq
