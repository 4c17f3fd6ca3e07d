// What queued pods take beyond their own objects, and what an operation allocates once the queue is
// warm. By jemalloc's counters: nothing without it.
#pragma once

#include <cstdint>
#include <optional>

#include "schedq/engine_kind.h"

namespace schedq {

// Bytes a pod with one claim, queued and in the claim index; the pod object and the claim itself
// are not counted.
std::optional<double> MeasureBytesPerPod(EngineKind engine, int64_t pod_count);

// Allocations per operation of add, pop and bind, on a queue that has held as many pods before.
std::optional<double> MeasureAllocationsPerOperation(EngineKind engine, int64_t pod_count);

}  // namespace schedq
