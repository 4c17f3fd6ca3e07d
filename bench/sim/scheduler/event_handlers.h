// What the scheduler's event handlers do with each change that the informers deliver.
//
// Purpose: changes become operations of the queue, as kube-scheduler's handlers have it: a pod
// without a node goes to the queue, one with a node is an AssignedPod event; the update of a node
// is split into what changed; an assumed pod's updates stay away from the queue.
// Threads: one virtual one of its own: a change after the other, each holding the queue's lock as
// long as its operations cost. (Upstream has a handler thread for each kind of object; all contend
// for that lock.)
// Memory: the changes that wait.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/queue/queue_driver.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/loop_metrics.h"
#include "bench/sim/scheduler/scheduler_cache.h"
#include "bench/sim/scheduler/virtual_lock.h"

namespace schedq {

class EventHandlers {
 public:
  EventHandlers(QueueDriver* queue, SchedulerCache* cache, VirtualLock* lock,
                const CostModel& costs, LoopMetrics* metrics)
      : queue_(queue), cache_(cache), lock_(lock), costs_(costs), metrics_(metrics) {}

  void OnChange(const ClusterChange& change);
  // Changes were delivered that are not handled yet.
  bool is_busy() const { return is_busy_; }

  // Sends one event. What it costs under the lock; also for others that hold the lock.
  Duration Send(const ClusterEvent& event, const ObjectChange& change);

 private:
  void HandleNext();
  Duration Handle(const ClusterChange& change);
  Duration HandlePod(const ClusterChange& change);
  Duration HandleUnassignedUpdate(const ClusterPodRef& before, const ClusterPodRef& after);
  Duration HandleUnassignedDelete(const ClusterPodRef& pod);
  Duration SendAll(std::span<const ClusterEvent> events, const ObjectChange& change);

  QueueDriver* const queue_;
  SchedulerCache* const cache_;
  VirtualLock* const lock_;
  const CostModel& costs_;
  LoopMetrics* const metrics_;
  std::deque<ClusterChange> waiting_;
  bool is_busy_ = false;
};

}  // namespace schedq
