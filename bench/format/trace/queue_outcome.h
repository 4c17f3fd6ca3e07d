// What a trace says of a queue's state: places of pods, and the sums of its last line.
// Threads: any that may read the queue.
#pragma once

#include <string>

#include "bench/format/trace/trace.h"
#include "engine/queue.h"
#include "hints/registry.h"

namespace schedq {

// "active", "backoff@MS" (since `start`), "gated:PLUGIN", ... of the pod "namespace/name".
std::string PlaceText(const SchedulingQueue& queue, const PluginRegistry& plugins, Instant start,
                      const std::string& full_name);

// The fields of `end`.
void SumQueue(const SchedulingQueue& queue, TraceWant* outcome);

}  // namespace schedq
