// The parts of an assembled queue, and how they are put together: the one wiring of an engine.
//
// Threads: built by one thread; afterwards each part as its own header says.
#pragma once

#include <memory>
#include <string>

#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/real_clock.h"
#include "engine/plugin.h"
#include "engine/queue.h"
#include "hints/judge.h"
#include "hints/pre_enqueue.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "schedq/api_calls.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "schedq/deferred_actions.h"
#include "schedq/pods_being_bound.h"

namespace schedq {

// In the order in which each needs what stands above it; destroyed from below.
struct AssembledQueue::Parts {
  explicit Parts(Clock* given_clock)
      : own_clock(given_clock == nullptr ? std::make_unique<RealClock>() : nullptr),
        clock(given_clock != nullptr ? given_clock : own_clock.get()) {}

  Status Build(AssemblyOptions* options);
  QueueOptions OptionsOfQueue(const AssemblyOptions& options);
  std::string RejectionMessage(PluginSet rejectors) const;

  const std::unique_ptr<RealClock> own_clock;  // Null: the caller's is used.
  Clock* const clock;
  Interner pod_names;
  World world{&pod_names};
  MetricsRegistry metrics;
  std::unique_ptr<PluginRegistry> plugins;
  std::unique_ptr<PluginPreEnqueue> pre_enqueue;
  std::unique_ptr<PluginJudge> judge;
  std::unique_ptr<ApiCalls> calls;  // Null: there is no dispatcher.
  std::unique_ptr<SchedulingQueue> queue;
  std::unique_ptr<DeferredActions> deferred;
  PodsBeingBound being_bound;
  bool has_groups = false;      // The gate GenericWorkload is on.
  bool has_composites = false;  // The gate CompositePodGroup is on.
};

}  // namespace schedq
