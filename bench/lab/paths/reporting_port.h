// Add without an observer: the cost of the port that reports pods' rejections when its gates are
// off.
//
// Purpose: two series, the product and the same engine compiled without the port. The difference
// between their instructions is the cost of the port.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/pod.h"
#include "engine/ports.h"

namespace schedq {

enum class ReportingPort : uint8_t { kCompiledIn, kCompiledOut };

struct UnobservedAdds {
  ReportingPort port = ReportingPort::kCompiledIn;
  int64_t pods = 0;
  bool are_gated = false;                 // PreEnqueue rejects them.
  std::vector<QueueObserver*> observers;  // For controls; empty where the port is compiled out.
};

// Answer: all pods are active, or gated. An operation is an Add.
class AddUnobserved final : public MeasuredPath {
 public:
  explicit AddUnobserved(const UnobservedAdds& adds);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  const bool are_gated_;
  const std::vector<PodRef> pods_;
  EngineStage stage_;
};

}  // namespace schedq
