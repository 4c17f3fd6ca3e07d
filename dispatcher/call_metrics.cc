#include "dispatcher/call_metrics.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace schedq {
namespace {

LabelValues TypeNames() {
  LabelValues names;
  for (int type = 0; type < kCallTypeCount; ++type) {
    names.emplace_back(CallTypeName(static_cast<CallType>(type)));
  }
  return names;
}

}  // namespace

CallMetrics::CallMetrics(MetricsRegistry* registry) {
  if (registry == nullptr) return;
  const LabelValues results = {"success", "error"};
  CallbackGaugeFamily& pending = registry->CallbackGauges(
      {"scheduler_pending_async_api_calls", "API calls that have not ended.", {"call_type"}});
  const DenseCounterFamily& added = registry->DenseCounters(
      {"schedq_api_calls_added_total", "API calls that were asked for.", {"call_type"}},
      {TypeNames()});
  const DenseCounterFamily& ends = registry->DenseCounters(
      {"schedq_api_calls_ended_total", "API calls by how they ended.", {"call_type", "end"}},
      {TypeNames(), {"success", "error", "overwritten", "skipped"}});
  const DenseCounterFamily& executions =
      registry->DenseCounters({"scheduler_async_api_call_execution_total",
                               "API calls that were executed.",
                               {"call_type", "result"}},
                              {TypeNames(), results});
  const DenseHistogramFamily& durations =
      registry->DenseHistograms({"scheduler_async_api_call_execution_duration_seconds",
                                 "Duration of the execution of API calls.",
                                 {"call_type", "result"}},
                                ExponentialBounds(1e-3, 2, 15), {TypeNames(), results});
  for (size_t type = 0; type < kCallTypeCount; ++type) {
    added_[type] = added.At(type);
    for (size_t end = 0; end < kCallEndCount; ++end) ends_[type][end] = ends.At(type, end);
    for (size_t result = 0; result < results.size(); ++result) {
      executions_[type][result] = executions.At(type, result);
      durations_[type][result] = durations.At(type, result);
    }
    pending_[type] = pending.Register({TypeNames()[type]}, [this, type] { return Pending(type); });
  }
}

double CallMetrics::Pending(size_t type) const {
  // Ends first: a call that is added and ends meanwhile counts as pending rather than as minus one.
  uint64_t ended = 0;
  for (const Counter& end : ends_[type]) ended += end.Value();
  const uint64_t added = added_[type].Value();
  return static_cast<double>(added - std::min(ended, added));
}

}  // namespace schedq
