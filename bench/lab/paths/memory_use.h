// The memory of queued pods beyond their own objects, and the allocations of an operation on a warm
// queue. Both read jemalloc's counters and return nullopt without jemalloc.
#pragma once

#include <cstdint>
#include <optional>

#include "schedq/engine_kind.h"

namespace schedq {

// Bytes of a pod with one claim, in the queue and in the claim index. The pod object and the claim
// object are not counted.
std::optional<double> MeasureBytesPerPod(EngineKind engine, int64_t pod_count);

// Allocations per operation of Add, Pop and Bind, on a queue that has held as many pods before.
std::optional<double> MeasureAllocationsPerOperation(EngineKind engine, int64_t pod_count);

}  // namespace schedq
