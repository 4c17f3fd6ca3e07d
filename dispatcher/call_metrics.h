// The metrics of asynchronous API calls, as upstream names them, and how many calls ended how.
//
// Threads: any; additions are wait-free and do not allocate.
#pragma once

#include "dispatcher/api_call.h"
#include "engine/base/metrics.h"

namespace schedq {

class CallMetrics {
 public:
  // `registry` may be null: nothing is counted.
  explicit CallMetrics(MetricsRegistry* registry);

  void AddPending(CallType type, int64_t amount) const {
    if (pending_ != nullptr) pending_->At(type).Add(amount);
  }
  void CountEnd(CallType type, CallEnd end) const {
    if (ends_ != nullptr) ends_->At(type, end).Add(1);
  }
  // An execution, which succeeded or not.
  void CountExecution(CallType type, bool is_ok, Duration duration) const {
    if (executions_ == nullptr) return;
    executions_->At(type, is_ok ? 0 : 1).Add(1);
    durations_->At(type, is_ok ? 0 : 1).Observe(duration);
  }

 private:
  DenseGaugeFamily* pending_ = nullptr;
  DenseCounterFamily* ends_ = nullptr;
  DenseCounterFamily* executions_ = nullptr;
  DenseHistogramFamily* durations_ = nullptr;
};

}  // namespace schedq
