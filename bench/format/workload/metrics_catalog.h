// The metrics that a workload file may name.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/format/workload/model.h"

namespace schedq {

inline constexpr std::string_view kThroughputMetric = "SchedulingThroughput";

enum class MetricSupport : uint8_t {
  kUnknown,      // Neither kube-scheduler nor schedq has it: an error of the file.
  kNotModelled,  // kube-scheduler has it, but schedq does not.
  kModelled,
};

MetricSupport LookUpMetric(std::string_view name);

// The metrics that are collected for a case that names none.
const MetricsConfig& DefaultMetrics();

}  // namespace schedq
