#include "dispatcher/call_metrics.h"

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
  pending_ = &registry->DenseGauges(
      {"scheduler_pending_async_api_calls", "API calls that have not ended.", {"call_type"}},
      {TypeNames()}, Zeros::kShow);
  ends_ = &registry->DenseCounters(
      {"schedq_api_calls_ended_total", "API calls by how they ended.", {"call_type", "end"}},
      {TypeNames(), {"success", "error", "overwritten", "skipped"}});
  executions_ = &registry->DenseCounters({"scheduler_async_api_call_execution_total",
                                          "API calls that were executed.",
                                          {"call_type", "result"}},
                                         {TypeNames(), results});
  durations_ = &registry->DenseHistograms({"scheduler_async_api_call_execution_duration_seconds",
                                           "Duration of the execution of API calls.",
                                           {"call_type", "result"}},
                                          ExponentialBounds(1e-3, 2, 15), {TypeNames(), results});
}

}  // namespace schedq
