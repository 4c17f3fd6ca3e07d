// The options of a queue whose PreEnqueue check and judge are one object of the test.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/time/clock.h"
#include "engine/queue.h"

namespace schedq {

// All outlive the queue.
template <typename Ports>
QueueOptions OptionsAround(Clock* clock, Interner* names, Ports* ports, MetricsRegistry* metrics,
                           std::vector<std::string> plugin_names) {
  QueueOptions options;
  options.clock = clock;
  options.pod_names = names;
  options.pre_enqueue = ports;
  options.judge = ports;
  options.metrics = metrics;
  options.plugin_names = std::move(plugin_names);
  return options;
}

}  // namespace schedq
