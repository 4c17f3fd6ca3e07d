// The metrics of asynchronous API calls, as upstream names them, and how many calls ended how.
//
// Threads: any; additions are wait-free and do not allocate.
#pragma once

#include <array>

#include "dispatcher/api_call.h"
#include "engine/base/metrics.h"

namespace schedq {

class CallMetrics {
 public:
  // `registry` may be null: nothing is counted.
  explicit CallMetrics(MetricsRegistry* registry);

  void AddPending(CallType type, int64_t amount) const { pending_[Index(type)].Add(amount); }
  void CountEnd(CallType type, CallEnd end) const { ends_[Index(type)][Index(end)].Add(1); }
  // An execution, which succeeded or not.
  void CountExecution(CallType type, bool is_ok, Duration duration) const {
    executions_[Index(type)][is_ok ? 0 : 1].Add(1);
    durations_[Index(type)][is_ok ? 0 : 1].Observe(duration);
  }

 private:
  template <typename Value>
  using ByType = std::array<Value, kCallTypeCount>;

  static size_t Index(CallType type) { return static_cast<size_t>(type); }
  static size_t Index(CallEnd end) { return static_cast<size_t>(end); }

  // Looked up once: they are on the path of every call. Without a registry they drop what they get.
  ByType<Gauge> pending_;
  ByType<std::array<Counter, kCallEndCount>> ends_;
  ByType<std::array<Counter, 2>> executions_;
  ByType<std::array<Histogram, 2>> durations_;
};

}  // namespace schedq
