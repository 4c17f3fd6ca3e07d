// A queue with everything that it needs around it: names, a world, plugins, metrics.
//
// Purpose: the wiring of engine and hints in one place, for replays, benchmarks and tests.
// Threads: constructed and destroyed by one thread; the queue may be used from any.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/queue.h"
#include "hints/judge.h"
#include "hints/pre_enqueue.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "schedq/engine_kind.h"

namespace schedq {

using QueueMaker = std::function<std::unique_ptr<SchedulingQueue>(QueueOptions options)>;

struct QueueRigOptions {
  EngineKind engine = EngineKind::kClassic;
  Clock* clock = nullptr;  // Outlives the rig.
  // The plugins; the world outlives them.
  std::function<Result<std::vector<Plugin>>(World* world)> make_plugins;
  Gates gates;
  BackoffPolicy backoff;
  Duration max_in_unschedulable = std::chrono::minutes(5);
  std::vector<QueueObserver*> observers;
  // False: a large batch of hints is judged on the calling thread too.
  bool judges_in_parallel = true;
  QueueMaker make_queue;  // Empty: the engine as it is.
};

class QueueRig {
 public:
  // An error says what is wrong with the plugins.
  static Result<std::unique_ptr<QueueRig>> Create(const QueueRigOptions& options);

  Interner& pod_names() { return pod_names_; }
  World& world() { return world_; }
  MetricsRegistry& metrics() { return metrics_; }
  const PluginRegistry& plugins() const { return *plugins_; }
  SchedulingQueue& queue() { return *queue_; }

 private:
  QueueRig() : world_(&pod_names_) {}

  Interner pod_names_;
  World world_;
  MetricsRegistry metrics_;
  std::unique_ptr<PluginRegistry> plugins_;
  std::unique_ptr<PluginPreEnqueue> pre_enqueue_;
  std::unique_ptr<PluginJudge> judge_;
  std::unique_ptr<SchedulingQueue> queue_;
};

}  // namespace schedq
