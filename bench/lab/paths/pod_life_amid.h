// The life of N pods (add, pop, done) with other pods around that do not concern it.
//
//   kGated     100,000 pods wait in the pool, gated
//   kUpdates   and a second thread updates them, one after the other
//   kDeletes   and a second thread deletes and adds them again
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"

namespace schedq {

enum class Company : uint8_t { kNone, kGated, kUpdates, kDeletes };

// Answer: every pod is popped once, and the gated ones are still gated. An operation is a pod.
class PodLifeAmid : public MeasuredPath {
 public:
  struct Options {
    EngineKind engine = EngineKind::kLockfree;
    Company company = Company::kNone;
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
