// The scheduler on the real clock: real threads around the assembled queue, at the engine's speed.
//
// Purpose: runs in which queue, hints and dispatcher are what takes the time. Informer threads tell
// queue and cache of the cluster, one or more scheduling threads pop, decide and assume, a binder
// and the dispatcher's own thread do the rest.
// Several scheduling threads decide by copies of one cache. A node that another thread was ahead of
// is refused when the pod is to be assumed: a conflict, which is counted, and decided anew.
// Threads: made and destroyed on the cluster's thread.
// Invariant: a pod that was popped is on its way to a node, or waits for Permit to go there, or was
// failed, or was abandoned because it is being deleted.
// Memory: the queue's and the cache's, and a copy of the nodes a scheduling thread.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/format/workload/device_features.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/calls/cluster_sink.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/groups/group_cycle.h"
#include "bench/sim/placing/placers.h"
#include "bench/sim/placing/rejectors.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/waiting_pods.h"
#include "bench/sim/queue/queue_watch.h"
#include "bench/sim/real/attempt_book.h"
#include "bench/sim/real/binder.h"
#include "bench/sim/real/binding.h"
#include "bench/sim/real/informers.h"
#include "bench/sim/real/latency_meter.h"
#include "bench/sim/real/metered_thread.h"
#include "bench/sim/real/part_clock.h"
#include "bench/sim/real/posting_sink.h"
#include "bench/sim/real/requeue_meter.h"
#include "bench/sim/real/wall_pace.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/loop_metrics.h"
#include "bench/sim/scheduler/scheduler.h"
#include "bench/sim/scheduler/victim_deletions.h"
#include "dispatcher/report/status_model.h"
#include "engine/backoff.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "hints/plugins/builtin.h"
#include "perf/statistics/histogram.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "schedq/attempt.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct RealSchedulerOptions {
  Cluster* cluster = nullptr;
  WallPace* pace = nullptr;
  const CostModel* costs = nullptr;  // Only its latencies of API calls count.
  EngineKind engine = EngineKind::kLockfree;
  int scheduling_threads = 1;
  Gates gates;
  BackoffPolicy backoff;
  StatusModel status_model = StatusModel::kImplicitDelayed;
  Random random{0};
  std::vector<PluginSource> further_plugins;
  PodRulesUse pod_rules = PodRulesUse::kSome;
  PlacingPluginSource placing_plugins = BuiltinPlacingPlugins;
  DeviceFeatures devices = {};
  SchedulerSettings settings = {};
  QueueMaker make_queue;  // Empty: the plain engine. Tests plant faults here.
};

class RealScheduler final : public Scheduler {
 public:
  explicit RealScheduler(const RealSchedulerOptions& options);
  ~RealScheduler() override;
  RealScheduler(const RealScheduler&) = delete;
  RealScheduler& operator=(const RealScheduler&) = delete;

  const MetricsRegistry& queue_metrics() const override;
  const MetricsRegistry& loop_metrics() const override { return metrics_.registry(); }
  QueueWatch* watch() override { return nullptr; }
  bool IsCaughtUp() const override;
  bool Knows(const ClusterPod& pod) const override;
  bool IsOnItsWay(const ClusterPod& pod) const override { return cache_->IsAssumed(pod.slot()); }
  std::vector<std::string> Faults() const override;

  const AssembledQueue& queue() const { return *queue_; }
  const Informers& informers() const { return *informers_; }
  // Whether none of its threads has anything to do, nor any pod could be popped.
  bool IsQuiet() const;
  // Whether its cache has every change of a node that was delivered.
  bool HasHandledNodes() const { return informers_->HasHandledNodes(); }
  // Decisions that another thread was ahead of.
  uint64_t conflicts() const { return conflicts_.load(); }
  // From a pod's intended creation to its first pop, since the last call.
  LatencyHistogram TakePopLatencies();
  // From the delivery of an event to the pods that it requeued, since the last call.
  LatencyHistogram TakeRequeueLatencies() { return informers_->TakeRequeueLatencies(); }
  // Of the calls that add pods to the queue, since the last call.
  LatencyHistogram TakeAddLatencies() { return informers_->TakeAddLatencies(); }
  // Nodes that attempts to place a pod counted with.
  uint64_t nodes_looked_at() const { return nodes_looked_at_.load(); }
  // Of each thread but the cluster's, by its name.
  std::map<std::string, ThreadUsage> Usage() const;

 private:
  // The first of the threads' streams of random numbers, from which nothing but placing draws.
  static constexpr uint64_t kFirstPlacing = 1;
  // Of a thread's stream.
  static constexpr uint64_t kGroups = 1;

  struct SchedulingThread {
    SchedulingThread(SchedulerCache* cache, const Random& random,
                     std::function<void(const ClusterPod& pod, const std::string& node)> released)
        : placers(cache, random),
          groups(cache, placers.first(), random.Fork(kGroups), std::move(released)) {}

    Placers placers;
    GroupCycle groups;
    LatencyMeter popped;
    MeteredThread thread;
  };

  void Run(SchedulingThread* self, PartClock* parts);
  void Schedule(SchedulingThread* self, PartClock* parts, Attempt attempt);
  // The cycle of a group (real_scheduler_groups.cc).
  void ScheduleGroup(SchedulingThread* self, PartClock* parts, Attempt group);
  // The members that are to be scheduled; the attempts of the others end.
  std::vector<Attempt> TakeMembers(SchedulingThread* self, Attempt* group, Instant started);
  void FailMember(Attempt* attempt, const MemberOutcome& outcome, Instant started);
  void BeginPreemption(PartClock* parts, const std::vector<Attempt>& members,
                       GroupOutcome* outcome);
  void PatchConditions(GroupOutcome* outcome);
  // Decides and assumes, again after a conflict. No node: `rejectors` says why, none: an error.
  Decision DecideAndAssume(SchedulingThread* self, PartClock* parts, const Attempt& attempt);
  // What follows where the pod has a node: Permit, and a binding or a wait for it. False: a plugin
  // has rejected, as stands in the decision, and the attempt is still the caller's.
  bool Go(PartClock* parts, Attempt* attempt, Decision* decision, Instant started);
  void Wait(const BindingRef& binding, const PermitOutcome& permit);
  // The attempt fails, with what PostFilter decided.
  void Fail(Attempt* attempt, const Decision& decision);
  bool preempts_in_cycle() const { return !options_.gates.On(Gate::kSchedulerAsyncPreemption); }
  // Waits until the victims are going, or the scheduler stops. False: a call has failed.
  bool DeleteInCycle(PartClock* parts, const std::vector<ClusterPodRef>& victims);
  VictimDeletions::Surroundings SurroundingsOfVictims();
  void Stop();
  // After the queue is closed.
  void JoinAll();

  const RealSchedulerOptions options_;
  Random random_;
  LoopMetrics metrics_;
  AttemptBook attempts_;
  RequeueObserver requeues_;
  ClusterSink server_;
  PostingSink sink_;
  std::unique_ptr<AssembledQueue> queue_;
  std::unique_ptr<SchedulerCache> cache_;  // Made when there is a queue, as the next two.
  std::optional<const Rejectors> rejectors_;
  std::optional<VictimDeletions> victims_;
  std::atomic<uint64_t> conflicts_{0};        // Raised by scheduling threads.
  std::atomic<uint64_t> nodes_looked_at_{0};  // Raised by scheduling threads.
  std::unique_ptr<Binder> binder_;
  WaitingPods waiting_pods_;
  std::unique_ptr<Informers> informers_;
  // Scheduling threads wait here for the victims that they delete within a cycle.
  std::mutex going_mutex_;  // Guards what they wait for, and is_stopping_.
  std::condition_variable going_;
  bool is_stopping_ = false;
  std::vector<std::unique_ptr<SchedulingThread>> threads_;
};

}  // namespace schedq
