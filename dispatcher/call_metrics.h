// The metrics of asynchronous API calls, as upstream names them, and the number of calls by end.
//
// The number of pending calls is that of added calls less that of ended ones. Reading it computes
// it.
//
// Threads: any; additions are wait-free and do not allocate. At most one lives for a registry.
#pragma once

#include <array>
#include <cstddef>

#include "dispatcher/api_call.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"

namespace schedq {

class CallMetrics {
 public:
  // `registry` may be null: nothing is counted.
  explicit CallMetrics(MetricsRegistry* registry);

  CallMetrics(const CallMetrics&) = delete;
  CallMetrics& operator=(const CallMetrics&) = delete;

  void CountAdded(CallType type) const { added_[Index(type)].Add(1); }
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

  double Pending(size_t type) const;

  // Looked up once, because every call counts in them. Without a registry they count nothing.
  ByType<Counter> added_;
  ByType<std::array<Counter, kCallEndCount>> ends_;
  ByType<std::array<Counter, 2>> executions_;
  ByType<std::array<Histogram, 2>> durations_;
  ByType<CallbackGaugeFamily::Registration> pending_;  // Last, since it reads the others.
};

}  // namespace schedq
