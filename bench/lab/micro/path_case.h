// Cases that run an engine on a path of bench/lab/paths.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/paths/measured_path.h"
#include "schedq/engine_kind.h"

namespace schedq {

// A case of the group "<group>/<pods>_pods" for one engine. An operation is a pod.
BenchmarkCase EngineCase(EngineKind engine, const std::string& group, int64_t pods);

// The figure of upstream's queue in anchors.json; nullopt when there is none. `column` may be null.
std::optional<double> EngineAnchor(const char* table, const std::string& row, const char* column);

// The body of a case that prepares a path, runs and times it. The path has the size of its workload
// for any number of iterations that google-benchmark asks for; the reported time is in proportion.
std::function<void(benchmark::State&)> PathBody(std::function<MeasuredPathRef()> prepare);

// Reports `value`, in the case's unit, instead of a time per operation.
void ReportValue(benchmark::State& state, double value);

}  // namespace schedq
