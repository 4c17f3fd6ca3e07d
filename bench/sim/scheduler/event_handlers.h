// The scheduler's event handlers: they turn each change that the informers deliver into operations
// of the queue.
//
// Purpose: the rules of kube-scheduler's handlers. A pod without a node goes to the queue, and a
// pod with a node is an AssignedPod event. The update of a node is one event for each changed part.
// The updates of an assumed pod do not reach the queue.
// Threads: one virtual thread of its own. It handles one change after the other, and each holds the
// queue's lock for the cost of its operations. (Upstream has a handler thread for each kind of
// object; all contend for that lock.)
// Memory: the waiting changes.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/waiting_pods.h"
#include "bench/sim/queue/queue_driver.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/loop_metrics.h"
#include "bench/sim/scheduler/virtual_lock.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"
#include "schedq/assembled_queue.h"

namespace schedq {

class EventHandlers {
 public:
  EventHandlers(QueueDriver* queue, SchedulerCache* cache, WaitingPods* waiting, VirtualLock* lock,
                const CostModel& costs, LoopMetrics* metrics)
      : queue_(queue),
        cache_(cache),
        waiting_pods_(waiting),
        lock_(lock),
        costs_(costs),
        metrics_(metrics) {}

  void OnChange(const ClusterChange& change);
  // Whether delivered changes are not handled yet.
  bool is_busy() const { return is_busy_; }

  // Sends one event, and returns its cost under the lock. Also called by others that hold the lock.
  Duration Send(const ClusterEvent& event, const ObjectChange& change,
                const AssembledQueue::PreCheck& pre_check = {});

 private:
  void HandleNext();
  Duration Handle(const ClusterChange& change);
  Duration HandlePod(const ClusterChange& change);
  Duration HandleUnassignedUpdate(const ClusterPodRef& before, const ClusterPodRef& after);
  Duration HandleUnassignedDelete(const ClusterPodRef& pod);
  Duration SendAll(std::span<const ClusterEvent> events, const ObjectChange& change);

  QueueDriver* const queue_;
  SchedulerCache* const cache_;
  WaitingPods* const waiting_pods_;
  VirtualLock* const lock_;
  const CostModel& costs_;
  LoopMetrics* const metrics_;
  std::deque<ClusterChange> waiting_;
  bool is_busy_ = false;
};

}  // namespace schedq
