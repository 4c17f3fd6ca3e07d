// The state of a queue in the words of a trace: places of pods, and the sums of its last line.
// Threads: every thread that may read the queue.
#pragma once

#include <string>

#include "bench/format/trace/trace.h"
#include "engine/base/time/time.h"
#include "engine/queue.h"
#include "hints/registry.h"

namespace schedq {

// The place of the pod "namespace/name" in the words of a trace: "active", "backoff@MS" (since
// `start`), "gated:PLUGIN", ...
std::string PlaceText(const SchedulingQueue& queue, const PluginRegistry& plugins, Instant start,
                      const std::string& full_name);

// Fills the fields of the operation `end`. `has_groups`: the queue knows of groups, and counts
// entities.
void SumQueue(const SchedulingQueue& queue, bool has_groups, TraceWant* outcome);

}  // namespace schedq
