// The simulated scheduler: pops, decides, assumes, binds, fails; on virtual time.
//
// Purpose: one scheduling thread, an event handler thread, and bindings side by side, as
// kube-scheduler has them, with every step's cost from a model. What the scheduler knows comes from
// the cluster's informers only.
// An attempt: Pop; decide at once by what is known then, and assume; after the attempt's cost,
// Done and the start of the binding, or Fail with the plugins that rejected. A pod that is being
// deleted is skipped. A binding: each claim's status in turn, unless all went out with the pod's
// nomination, then the bind call; if one fails, the pod is forgotten, others are told, and it fails
// without plugins (an error).
// A failed pod gets its condition (PodScheduled=False) by a call that nobody waits for. A binding
// that has claims to store shows its node on the pod first (KEP-5278). Calls about pods go the way
// that the gates say (pod_calls.h), and claims with them or else by whoever needs them.
// Not modelled: scores beyond NodeTable's rule, preemption, Permit, a nomination's reservation.
// Threads: one, that which advances the clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/sim/calls/pod_calls.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/queue/queue_driver.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/event_handlers.h"
#include "bench/sim/scheduler/loop_metrics.h"
#include "bench/sim/scheduler/scheduler_cache.h"
#include "bench/sim/scheduler/virtual_lock.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/random.h"

namespace schedq {

struct SchedulerLoopOptions {
  Cluster* cluster = nullptr;
  const CostModel* costs = nullptr;
  QueueDriverOptions queue;  // Without clock and judge_cost, which follow from the others.
  Random random{0};
  StatusModel status_model = StatusModel::kImplicitDelayed;  // Of rejections by PreEnqueue.
};

class SchedulerLoop {
 public:
  // Watches the cluster and ticks on its clock; both outlive it.
  explicit SchedulerLoop(const SchedulerLoopOptions& options);
  ~SchedulerLoop() { calls_->StopTelling(); }
  SchedulerLoop(const SchedulerLoop&) = delete;
  SchedulerLoop& operator=(const SchedulerLoop&) = delete;

  const QueueDriver& queue() const { return queue_; }
  const LoopMetrics& metrics() const { return metrics_; }
  QueueWatch& watch() { return queue_.watch(); }
  // All changes that the informers delivered are handled.
  bool IsCaughtUp() const { return !handlers_.is_busy(); }
  // For the audit: the pod is in the queue, in flight, or on its way to a node.
  bool Knows(const ClusterPod& pod) const;

 private:
  struct Attempt {
    PoppedPod popped;
    Decision decision;
    Instant started{};
    size_t claims_stored = 0;

    const ClusterPod& pod() const { return AsClusterPod(*popped.pod); }
  };
  using AttemptRef = std::shared_ptr<Attempt>;

  // The scheduling thread.
  void WakeUp();
  void PopNext();
  void Start(const AttemptRef& attempt);
  void Finish(const AttemptRef& attempt);
  Duration Fail(const AttemptRef& attempt);
  void ReportFailure(const AttemptRef& attempt, PluginSet rejectors);
  // The newest version that the informers told of, or the one of the attempt.
  PodRef NewestOf(const AttemptRef& attempt) const;

  // Bindings.
  void BeginBinding(const AttemptRef& attempt);
  void ContinueBinding(const AttemptRef& attempt, ClaimsAfterBegin claims);
  void StoreNextClaim(const AttemptRef& attempt);
  bool StoreAllClaims(const AttemptRef& attempt);
  bool StoreClaim(const ClaimDecision& claim, const ClusterPod& pod, const std::string& node);
  void BindAfterClaims(const AttemptRef& attempt);
  void FailBinding(const AttemptRef& attempt);

  void After(Duration delay, std::function<void()> action);
  PluginSet RejectorsOf(const Decision& decision) const;

  Cluster* const cluster_;
  const CostModel& costs_;
  Random random_;
  Clock& clock_;
  LoopMetrics metrics_;
  SchedulerCache cache_;
  VirtualLock lock_;
  const std::unique_ptr<PodCalls> calls_;
  QueueDriver queue_;
  EventHandlers handlers_;
  PluginId obstacle_plugins_[kObstacleCount];
  bool is_scheduling_ = false;
};

}  // namespace schedq
