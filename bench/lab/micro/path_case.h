// Cases that measure a whole engine on a path of bench/lab/paths.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/anchors.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/paths/measured_path.h"
#include "schedq/engine_kind.h"

namespace schedq {

// A case of group "<group>/<pods>_pods" for one engine; an operation is a pod.
BenchmarkCase EngineCase(EngineKind engine, const std::string& group, int64_t pods);

// A figure of anchors.json's upstream queue; nothing when it has none. `column` may be null.
std::optional<double> EngineAnchor(const char* table, const std::string& row, const char* column);

// Runs and times the path. It has the workload's size, whatever number of iterations
// google-benchmark asks for: time is reported in proportion.
void MeasurePath(benchmark::State& state, MeasuredPath& path);

// Reports a value that is no time per operation: `value`, in the case's unit.
void ReportValue(benchmark::State& state, double value);

}  // namespace schedq
