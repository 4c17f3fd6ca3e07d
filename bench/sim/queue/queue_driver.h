// The assembled queue as the simulated scheduler drives it, one operation at a time.
//
// Purpose: the driver ticks the flushes, and keeps the attempts of pods that are in flight or in a
// binding. With a recorder, it records each operation.
// Threads: one, the one that advances the clock.
// Invariant: metrics that an engine measures by the machine's clock are separate from those that
// depend only on the run (registry() and LoopMetrics).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/queue/hint_meter.h"
#include "bench/sim/queue/queue_watch.h"
#include "bench/sim/queue/rejected_alternatives.h"
#include "bench/sim/queue/trace_recorder.h"
#include "engine/backoff.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/flush_tickers.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/registry.h"
#include "hints/running_preemptions.h"
#include "hints/world.h"
#include "schedq/api_calls.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "schedq/attempt.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct QueueDriverOptions {
  EngineKind engine = EngineKind::kLockfree;
  Clock* clock = nullptr;
  Gates gates;
  BackoffPolicy backoff;
  Duration judge_cost{};                      // The virtual duration of one hint.
  TraceRecorder* recorder = nullptr;          // May be null.
  RejectedAlternatives alternatives;          // Must be empty with a recorder.
  std::vector<PluginSource> further_plugins;  // Plugins beside the built-in ones.
  PodRulesUse pod_rules = PodRulesUse::kSome;
  SchedulerSettings settings = {};
  std::optional<ApiCallOptions> api_calls;
  QueueMaker make_queue;  // Empty: the plain engine. Tests plant faults here.
};

class RecordedTime;

class QueueDriver {
 public:
  explicit QueueDriver(const QueueDriverOptions& options);
  ~QueueDriver();
  QueueDriver(const QueueDriver&) = delete;
  QueueDriver& operator=(const QueueDriver&) = delete;

  // `wake_up` is called after each operation that may have made pods poppable.
  void SetWakeUp(std::function<void()> wake_up) { wake_up_ = std::move(wake_up); }

  // The operations of the event handlers.
  void Add(const ClusterPodRef& pod);
  void Update(const ClusterPodRef& before, const ClusterPodRef& after);
  void Delete(const ClusterPodRef& pod);
  // The informers delivered that the pod is bound.
  void Bind(const ClusterPodRef& pod);
  // A pod with a node came or went: it counts in its group. Nothing happens without groups.
  void CountMember(const ClusterPodRef& before, const ClusterPodRef& after);
  // A group's object came, changed or went. False: groups of its kind are not known.
  bool ChangeGroup(const PodGroupRef& before, const PodGroupRef& after);
  // An event of a claim changes the claim's world too. Returns false where no plugin registered for
  // the event.
  bool Event(const ClusterEvent& event, const ObjectChange& change,
             const AssembledQueue::PreCheck& pre_check = {});

  // The operations of the scheduling loop.
  // Of a group its members can be ended as pods are, and then the group.
  std::optional<PoppedPod> Pop();
  void EndGroup(const PoppedGroup& group, GroupStatus status);
  void Done(const PoppedPod& pod);
  void Fail(const PoppedPod& pod, PluginSet unschedulable);
  // An empty node clears.
  void Nominate(const PodRef& pod, const std::string& node);
  void Activate(const PodRef& pod);
  // The pods whose victims are not gone yet.
  RunningPreemptions* preemptions() { return queue_->world().mutable_preemptions(); }
  // Ends the attempt of a pod that will not be bound, because it is being deleted.
  void Abandon(const PoppedPod& pod);

  // The number of hints that were asked so far.
  uint64_t asked() const { return meter_.asked(); }
  // Whether a pop may find a pod.
  bool MayPop() const;
  PluginId PluginNamed(const std::string& name) const;
  const PluginRegistry& plugins() const { return queue_->plugins(); }
  const SchedulingQueue& queue() const { return std::as_const(*queue_).queue(); }
  ApiCalls* api_calls() { return queue_->api_calls(); }
  QueueWatch& watch() { return watch_; }
  const QueueWatch& watch() const { return watch_; }
  const MetricsRegistry& registry() const { return std::as_const(*queue_).metrics(); }

 private:
  Result<std::vector<Plugin>> MakePlugins(World* world);
  // Called before an operation that may give a pod its timestamp.
  void Stamp();
  void BeginRecording(RecordedQueue recorded);
  void StartTickers();
  bool has_groups() const { return options_.gates.GenericWorkload(); }
  // The attempt of a pod that was popped and has not ended.
  Attempt& AttemptOf(const PoppedPod& pod);
  void EndAttempt(const Pod& pod);
  // The rejected alternative of KEP-5142.
  void FlushWhenEmpty();
  // Called after the queue's operation: records it, then wakes the scheduling thread.
  template <typename Act>
  void AfterOperation(Act act);

  const QueueDriverOptions options_;
  std::unique_ptr<RecordedTime> recorded_time_;  // The queue's clock while it is recorded.
  HintMeter meter_;
  QueueWatch watch_;
  std::unique_ptr<AssembledQueue> queue_;
  // By the pod's number. Attempts that are open when a run ends fail, without effect on the run.
  std::unordered_map<uint64_t, Attempt> attempts_;
  std::map<GroupKey, Attempt> groups_;  // Of groups that are in their cycles.
  FlushTickers tickers_;
  std::function<void()> wake_up_ = [] {};
};

}  // namespace schedq
