// A queue with its plugins and its world, driven one operation at a time.
//
// Purpose: the one way from the simulated scheduler to an engine. It changes the world before the
// queue acts, ticks the flushes, and has each operation written down when a recorder is given.
// Threads: one, that which advances the clock.
// Invariant: metrics that an engine takes from the machine's clock are kept apart from those that
// depend on the run only (registry() and LoopMetrics).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/queue_rig.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/queue/hint_meter.h"
#include "bench/sim/queue/queue_watch.h"
#include "bench/sim/queue/rejected_alternatives.h"
#include "bench/sim/queue/trace_recorder.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/time/clock.h"
#include "engine/queue.h"
#include "hints/judge.h"
#include "hints/pre_enqueue.h"
#include "hints/registry.h"
#include "hints/world.h"

namespace schedq {

struct QueueDriverOptions {
  EngineKind engine = EngineKind::kClassic;
  Clock* clock = nullptr;
  Gates gates;
  BackoffPolicy backoff;
  Duration judge_cost{};                  // Of one hint.
  TraceRecorder* recorder = nullptr;      // May be null.
  RejectedAlternatives alternatives;      // None while recording.
  std::vector<QueueObserver*> observers;  // Beside its own.
  QueueMaker make_queue;                  // Empty: the engine as it is. Tests put faults around it.
};

class RecordedTime;

class QueueDriver {
 public:
  explicit QueueDriver(const QueueDriverOptions& options);
  ~QueueDriver();
  QueueDriver(const QueueDriver&) = delete;
  QueueDriver& operator=(const QueueDriver&) = delete;

  // `wake_up` is called after each operation by which pods may have come to be popped.
  void SetWakeUp(std::function<void()> wake_up) { wake_up_ = std::move(wake_up); }

  // From the cluster.
  void Add(const ClusterPodRef& pod);
  void Update(const ClusterPodRef& before, const ClusterPodRef& after);
  void Delete(const ClusterPodRef& pod);
  // The cluster says that the pod is bound.
  void Bind(const ClusterPodRef& pod);
  // A claim's world follows its events. False: no plugin wants to know of it.
  bool Event(const ClusterEvent& event, const ObjectChange& change);

  // From the scheduling loop.
  std::optional<PoppedPod> Pop();
  void Done(const PoppedPod& pod);
  void Fail(const PoppedPod& pod, PluginSet unschedulable);
  // Done, with a pod that will not be bound because it is being deleted.
  void Abandon(const PoppedPod& pod);

  // Hints asked so far.
  uint64_t asked() const { return meter_.asked(); }
  // Something may be there to pop.
  bool MayPop() const;
  PluginId PluginNamed(const std::string& name) const;
  const PluginRegistry& plugins() const { return *plugins_; }
  const PluginPreEnqueue& pre_enqueue() const { return *pre_enqueue_; }
  const SchedulingQueue& queue() const { return *queue_; }
  QueueWatch& watch() { return watch_; }
  const QueueWatch& watch() const { return watch_; }
  const MetricsRegistry& registry() const { return registry_; }

 private:
  std::vector<Plugin> MakePlugins();
  // Before an operation that may give a pod its timestamp.
  void Stamp();
  void Tick();
  // The alternative of KEP-5142.
  void FlushWhenEmpty();
  // The queue has acted: writes it down, then tells whoever pops.
  template <typename Act>
  void Acted(Act act);

  const QueueDriverOptions options_;
  std::unique_ptr<RecordedTime> recorded_time_;  // The queue's clock while it is recorded.
  Interner pod_names_;
  World world_;
  MetricsRegistry registry_;
  HintMeter meter_;
  QueueWatch watch_;
  std::unique_ptr<PluginRegistry> plugins_;
  std::unique_ptr<PluginPreEnqueue> pre_enqueue_;
  std::unique_ptr<PluginJudge> judge_;
  std::unique_ptr<SchedulingQueue> queue_;
  std::vector<TimerId> tickers_;
  std::function<void()> wake_up_ = [] {};
};

}  // namespace schedq
