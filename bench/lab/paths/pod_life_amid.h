// The life of N pods (add, pop, done) while gated pods, which have no part in it, are in the queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/pod.h"
#include "schedq/engine_kind.h"

namespace schedq {

// What happens to the gated pods meanwhile.
enum class GatedLoad : uint8_t {
  kNone,     // There are no gated pods.
  kIdle,     // Nothing.
  kUpdated,  // A second thread updates them, one after the other.
  kReadded,  // A second thread deletes each and adds it again.
};

// Answer: every pod is popped once, and the gated pods are gated at the end. An operation is a pod.
class PodLifeAmid : public MeasuredPath {
 public:
  struct Options {
    EngineKind engine = EngineKind::kLockfree;
    GatedLoad load = GatedLoad::kNone;
    int64_t pods = 0;
    int64_t gated = 0;
  };

  explicit PodLifeAmid(const Options& options);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  void Storm(const std::atomic<bool>& is_over);

  const Options options_;
  const std::vector<PodRef> pods_;
  std::vector<PodRef> gated_;
  EngineStage stage_;
  uint64_t popped_count_ = 0;
};

}  // namespace schedq
