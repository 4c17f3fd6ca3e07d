// The simulated scheduler: pops, decides, assumes, binds, fails; on virtual time.
//
// Purpose: one scheduling thread, an event handler thread, and bindings side by side, as in
// kube-scheduler, with every step's cost from a model. All knowledge of the scheduler comes from
// the cluster's informers.
// Attempts: the scheduler pops a pod, decides at once by its present knowledge, and assumes. After
// the attempt's cost it calls Done and starts the binding, or calls Fail with the plugins that
// rejected. A pod for which a Permit plugin says Wait stays in flight, with its node shown, until
// it is allowed or rejected. A pod that no node takes may be nominated by PostFilter, whose victims
// are deleted while it is gated, or within its attempt (victim_deletions.h). It skips a pod that is
// being deleted. A failed pod gets its condition (PodScheduled=False) by a call that the scheduler
// does not wait for, unless its calls are direct, and an event the first two times.
// Groups: a group is tried as one (group_cycle.h), which takes the time of all its
// decisions. Then each member begins its binding, waits for Permit or fails, in their order; the
// group's condition is patched, for which the scheduler waits; and the group's cycle ends.
// Bindings: a binding that has claims or volumes to store first nominates its node (KEP-5278). It
// stores each in turn, by calls of its own beside the nomination's, waits for what others do about
// them, and then makes the bind call.
// Where a call fails, the scheduler forgets the pod, sends the event of a deleted pod, and fails
// the pod without plugins (an error). The gates decide how calls are made (pod_calls.h).
// Threads: one, the one that advances the clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/workload/device_features.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/calls/call_settings.h"
#include "bench/sim/calls/pod_calls.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/groups/group_cycle.h"
#include "bench/sim/placing/placers.h"
#include "bench/sim/placing/rejectors.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/waiting_pods.h"
#include "bench/sim/queue/queue_driver.h"
#include "bench/sim/queue/queue_watch.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/event_handlers.h"
#include "bench/sim/scheduler/loop_metrics.h"
#include "bench/sim/scheduler/scheduler.h"
#include "bench/sim/scheduler/victim_deletions.h"
#include "bench/sim/scheduler/virtual_lock.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/queue_answers.h"

namespace schedq {

struct SchedulerLoopOptions {
  Cluster* cluster = nullptr;
  const CostModel* costs = nullptr;
  QueueDriverOptions queue;  // The loop sets clock and judge_cost.
  Random random{0};
  StatusModel status_model = StatusModel::kImplicitDelayed;  // For rejections by PreEnqueue.
  CallSettings calls = {};
  PlacingPluginSource placing_plugins = BuiltinPlacingPlugins;
  DeviceFeatures devices = {};
  SchedulerSettings settings = {};
};

class SchedulerLoop final : public Scheduler {
 public:
  // Watches the cluster and ticks on its clock; both outlive it.
  explicit SchedulerLoop(const SchedulerLoopOptions& options);
  ~SchedulerLoop() override { calls_->DropCallbacks(); }
  SchedulerLoop(const SchedulerLoop&) = delete;
  SchedulerLoop& operator=(const SchedulerLoop&) = delete;

  const QueueDriver& queue() const { return queue_; }
  const LoopMetrics& metrics() const { return metrics_; }
  const MetricsRegistry& queue_metrics() const override { return queue_.registry(); }
  const MetricsRegistry& loop_metrics() const override { return metrics_.registry(); }
  QueueWatch* watch() override { return &queue_.watch(); }
  bool IsCaughtUp() const override { return !handlers_.is_busy(); }
  bool Knows(const ClusterPod& pod) const override;
  bool IsOnItsWay(const ClusterPod& pod) const override { return cache_.IsAssumed(pod.slot()); }
  void Rethrow() const override { calls_->Rethrow(); }
  std::vector<std::string> Faults() const override { return faults_; }

 private:
  struct Attempt {
    PoppedPod popped;
    Decision decision;
    Instant started{};
    PermitOutcome permit;       // Of a pod that has a node.
    Duration algorithm{};       // What deciding took, with what it waited for.
    size_t pre_bind_steps = 0;  // That were taken.
    Duration waited{};          // For the next one of them.

    const ClusterPod& pod() const { return AsClusterPod(*popped.pod); }
    ClusterPodRef pod_ref() const { return std::static_pointer_cast<const ClusterPod>(popped.pod); }
  };
  using AttemptRef = std::shared_ptr<Attempt>;

  // The cycle of a group. Its members' attempts are in the order of the outcome.
  struct GroupAttempt {
    PoppedPod popped;
    Instant started{};
    std::vector<AttemptRef> members;
    GroupOutcome outcome;
    size_t patched = 0;  // Conditions.
  };
  using GroupAttemptRef = std::shared_ptr<GroupAttempt>;

  // The scheduling thread.
  void WakeUp();
  void PopNext();
  void Start(const AttemptRef& attempt);
  void Finish(const AttemptRef& attempt);
  // Deletes the victims of an attempt that has failed, and waits for them.
  void PreemptInCycle(const AttemptRef& attempt);
  void End(const AttemptRef& attempt);
  Duration Fail(const AttemptRef& attempt);
  Duration FailInQueue(const AttemptRef& attempt, PluginSet rejectors);
  // What PostFilter decided about a pod that no node takes: before and after its failure.
  void BeginPreemption(const AttemptRef& attempt);
  void NominateFor(const AttemptRef& attempt);

  // Groups (scheduler_loop_groups.cc).
  void StartGroup(const PoppedPod& popped);
  // Ends the attempts of members that are not to be scheduled any more.
  Duration SkipMembers(const GroupAttemptRef& group);
  void TryGroup(const GroupAttemptRef& group);
  Duration CostOfTrial(const Attempt& attempt) const;
  Duration CostOfGroup(const GroupAttempt& group, const GroupWork& work) const;
  Duration FinishMember(const GroupAttemptRef& group, size_t index);
  Duration FailMember(const AttemptRef& attempt, const MemberOutcome& outcome);
  void BeginPreemption(const GroupAttemptRef& group);
  void PreemptInCycle(const GroupAttemptRef& group);
  void SubmitGroup(const GroupAttemptRef& group);
  void PatchConditions(const GroupAttemptRef& group);
  void EndGroup(const GroupAttemptRef& group);
  size_t ProfileOf(const Attempt& attempt) const;
  void CountAttempt(const Attempt& attempt, AttemptResult result) const;

  // Permit.
  void Wait(const AttemptRef& attempt);
  void EndWait(const AttemptRef& attempt, size_t rejector);
  // Gives back what the pod has, and fails it for the plugin.
  Duration FailPermit(const AttemptRef& attempt, size_t rejector);

  // `otherwise` is said where there are no rejectors.
  void ReportFailure(const AttemptRef& attempt, PluginSet rejectors,
                     const char* otherwise = "no nodes available to schedule pods",
                     std::function<void()> patched = {});
  // The condition and the event of a failure.
  void Show(const AttemptRef& attempt, FailureText failure, std::function<void()> patched);
  // The newest version that the informers delivered, or that of the attempt.
  PodRef NewestOf(const AttemptRef& attempt) const;

  // Bindings.
  void BeginBinding(const AttemptRef& attempt);
  void StoreNextClaim(const AttemptRef& attempt);
  // Until the next step may be taken; 0: now.
  Duration PreBindDelay(const AttemptRef& attempt) const;
  bool TakePreBindStep(const AttemptRef& attempt);
  void BindAfterClaims(const AttemptRef& attempt);
  void FailBinding(const AttemptRef& attempt);

  // How many nodes PostFilter has tried without pods of a lower priority: as upstream, all on which
  // these may be the reason, until there are enough candidates.
  size_t NodesPreempted(const Attempt& attempt) const;
  bool MayFitAnyNode(const ClusterPod& pod) const;
  // Filtering and scoring so many nodes.
  Duration CostOfNodes(const ClusterPod& pod, size_t count) const;
  void After(Duration delay, std::function<void()> action);
  // A call that the scheduler makes by itself, with a token of its client.
  void Call(const char* call, const CallLatency& latency, std::function<void()> action);
  VictimDeletions::Surroundings SurroundingsOfVictims();

  // The stream of random numbers that nothing but placing draws from.
  static constexpr uint64_t kPlacing = 1;
  static constexpr uint64_t kGroups = 2;

  Cluster* const cluster_;
  const CostModel& costs_;
  Random random_;
  Clock& clock_;
  LoopMetrics metrics_;
  const std::unique_ptr<PodCalls> calls_;
  QueueDriver queue_;
  SchedulerCache cache_;
  Placers placers_{&cache_, random_.Fork(kPlacing)};
  GroupCycle group_cycle_{&cache_, placers_.first(), random_.Fork(kGroups)};
  WaitingPods waiting_pods_{&clock_};
  VirtualLock lock_;
  EventHandlers handlers_;
  const Rejectors rejectors_{cache_.framework(), queue_.plugins()};
  VictimDeletions victims_{SurroundingsOfVictims()};
  const bool preempts_in_cycle_;     // The gate SchedulerAsyncPreemption is off.
  std::vector<std::string> faults_;  // Of victims that were chosen.
  bool is_scheduling_ = false;
};

}  // namespace schedq
