// A queue with its plugins and its world, driven one operation at a time.
//
// Purpose: the assembled queue as the simulated scheduler drives it. It ticks the flushes, keeps
// the attempts of pods that are in flight or on their way to a node, and has each operation written
// down when a recorder is given.
// Threads: one, that which advances the clock.
// Invariant: metrics that an engine takes from the machine's clock are kept apart from those that
// depend on the run only (registry() and LoopMetrics).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/queue/hint_meter.h"
#include "bench/sim/queue/queue_watch.h"
#include "bench/sim/queue/rejected_alternatives.h"
#include "bench/sim/queue/trace_recorder.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/time/clock.h"
#include "engine/flush_tickers.h"
#include "engine/queue.h"
#include "hints/registry.h"
#include "schedq/assembled_queue.h"

namespace schedq {

struct QueueDriverOptions {
  EngineKind engine = EngineKind::kLockfree;
  Clock* clock = nullptr;
  Gates gates;
  BackoffPolicy backoff;
  Duration judge_cost{};                // Of one hint.
  TraceRecorder* recorder = nullptr;    // May be null.
  RejectedAlternatives alternatives;    // None while recording.
  std::vector<Plugin> further_plugins;  // Beside the built-in ones.
  std::optional<ApiCallOptions> api_calls;
  QueueMaker make_queue;  // Empty: the engine as it is. Tests put faults around it.
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
  const PluginRegistry& plugins() const { return queue_->plugins(); }
  const SchedulingQueue& queue() const { return std::as_const(*queue_).queue(); }
  ApiCalls* api_calls() { return queue_->api_calls(); }
  QueueWatch& watch() { return watch_; }
  const QueueWatch& watch() const { return watch_; }
  const MetricsRegistry& registry() const { return std::as_const(*queue_).metrics(); }

 private:
  std::vector<Plugin> MakePlugins(World* world);
  // Before an operation that may give a pod its timestamp.
  void Stamp();
  void BeginRecording(RecordedQueue recorded);
  void StartTickers();
  // The attempt of a pod that was popped and has not ended.
  Attempt& AttemptOf(const PoppedPod& pod);
  void EndAttempt(const Pod& pod);
  // The alternative of KEP-5142.
  void FlushWhenEmpty();
  // The queue has acted: writes it down, then tells whoever pops.
  template <typename Act>
  void Acted(Act act);

  const QueueDriverOptions options_;
  std::unique_ptr<RecordedTime> recorded_time_;  // The queue's clock while it is recorded.
  HintMeter meter_;
  QueueWatch watch_;
  std::unique_ptr<AssembledQueue> queue_;
  // By the pod's number. Attempts that are open when a run ends fail, and change nothing any more.
  std::unordered_map<uint64_t, Attempt> attempts_;
  FlushTickers tickers_;
  std::function<void()> wake_up_ = [] {};
};

}  // namespace schedq
