#include "bench/format/workload/metrics_catalog.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace schedq {
namespace {

constexpr std::string_view kPrefix = "scheduler_";

// The names stand without their prefix, as in docs/formats.md, "Metrics".
constexpr std::array kModelledMetrics = std::to_array<std::string_view>({
    "pending_pods",
    "queue_incoming_pods_total",
    "inflight_events",
    "pre_queueing_hint_evaluations_total",
    "queueing_hint_execution_duration_seconds",
    "event_handling_duration_seconds",
    "pod_scheduled_after_flush_total",
    "schedule_attempts_total",
    "scheduling_attempt_duration_seconds",
    "scheduling_algorithm_duration_seconds",
    "pod_scheduling_sli_duration_seconds",
    "pod_scheduling_attempts",
    "unschedulable_pods",
    "plugin_execution_duration_seconds",
    "framework_extension_point_duration_seconds",
    "async_api_call_execution_total",
    "async_api_call_execution_duration_seconds",
    "pending_async_api_calls",
});

constexpr std::array kOtherMetrics = std::to_array<std::string_view>({
    "preemption_victims",
    "preemption_attempts_total",
    "preemption_evaluation_duration_seconds",
    "preemption_execution_duration_seconds",
    "preemption_goroutines_duration_seconds",
    "preemption_goroutines_execution_total",
    "preemption_pdb_violations_total",
    "preemption_workload_disruptions",
    "workload_preemption_attempts_total",
    "workload_preemption_victims",
    "queued_entities",
    "queue_incoming_entities_total",
    "goroutines",
    "cache_size",
    "scheduler_cache_size",
    "batch_attempts_total",
    "batch_cache_flushed_total",
    "batch_rescore_attempts_total",
    "batch_rescore_duration_seconds",
    "get_node_hint_duration_seconds",
    "store_schedule_results_duration_seconds",
    "permit_wait_duration_seconds",
    "plugin_evaluation_total",
    "pod_scheduling_duration_seconds",
    "e2e_scheduling_duration_seconds",
    "dra_bindingconditions_allocations_total",
    "dra_bindingconditions_wait_duration_seconds",
    "podgroup_schedule_attempts_total",
    "podgroup_scheduling_attempt_duration_seconds",
    "podgroup_scheduling_algorithm_duration_seconds",
    "generated_placements_total",
    "placement_evaluations_total",
    "placement_evaluation_duration_seconds",
});

template <size_t N>
bool Has(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> Names(std::initializer_list<const char*> names) {
  return {names.begin(), names.end()};
}

}  // namespace

MetricSupport LookUpMetric(std::string_view name) {
  if (name == "kubernetes_feature_enabled") return MetricSupport::kModelled;
  if (name.substr(0, kPrefix.size()) != kPrefix) return MetricSupport::kUnknown;
  name.remove_prefix(kPrefix.size());
  if (Has(kModelledMetrics, name)) return MetricSupport::kModelled;
  return Has(kOtherMetrics, name) ? MetricSupport::kNotModelled : MetricSupport::kUnknown;
}

const MetricsConfig& DefaultMetrics() {
  static const std::vector<std::string> kExtensionPoints = Names(
      {"PreEnqueue", "PreFilter", "Filter", "PreFilterExtensionAddPod",
       "PreFilterExtensionRemovePod", "PostFilter", "PreScore", "Score", "ScoreExtensionNormalize",
       "PreBind", "Bind", "PostBind", "Reserve", "Unreserve", "Permit", "Sign"});
  static const std::vector<std::string> kResults = Names({"scheduled", "unschedulable", "error"});
  static const std::vector<std::string> kPlugins =
      Names({"PrioritySort", "DefaultBinder", "DefaultPreemption", "DynamicResources",
             "ImageLocality", "InterPodAffinity", "NodeAffinity", "NodeName", "NodePorts",
             "NodeResourcesBalancedAllocation", "NodeResourcesFit", "NodeUnschedulable",
             "NodeVolumeLimits", "PodTopologySpread", "SchedulingGates", "TaintToleration",
             "VolumeBinding", "VolumeRestrictions", "VolumeZone"});
  // An empty list of values reports every value that occurs.
  static const MetricsConfig kDefault = {
      {"scheduler_framework_extension_point_duration_seconds",
       {{"extension_point", kExtensionPoints}}},
      {"scheduler_scheduling_attempt_duration_seconds", {{"result", kResults}}},
      {"scheduler_pod_scheduling_duration_seconds", {}},
      {"scheduler_plugin_execution_duration_seconds",
       {{"plugin", kPlugins}, {"extension_point", kExtensionPoints}}},
      {"scheduler_queueing_hint_execution_duration_seconds", {{"plugin", kPlugins}, {"event", {}}}},
      {"scheduler_event_handling_duration_seconds", {{"event", {}}}},
  };
  return kDefault;
}

}  // namespace schedq
