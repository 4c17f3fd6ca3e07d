// The metrics that a workload file may name.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/format/workload/model.h"

namespace schedq {

inline constexpr std::string_view kThroughputMetric = "SchedulingThroughput";

enum class MetricSupport : uint8_t {
  kUnknown,      // No scheduler has it: an error of the file.
  kNotModelled,  // kube-scheduler has it, schedq does not.
  kModelled,
};

MetricSupport LookUpMetric(std::string_view name);

// What is collected when a case names no metrics.
const MetricsConfig& DefaultMetrics();

}  // namespace schedq
