// The scheduler's event handlers: they turn each change that the informers deliver into operations
// of the queue.
//
// Purpose: the rules of kube-scheduler's handlers. A pod without a node goes to the queue, and a
// pod with a node is an AssignedPod event. The update of a node is one event for each changed part.
// A nomination that ends is an event for the pods from which it kept room.
// The updates of an assumed pod reach the queue when its binding has failed.
// Threads: one virtual thread of its own. It handles one change after the other, and each holds the
// queue's lock for the cost of its operations. (Upstream has a handler thread for each kind of
// object; all contend for that lock.)
// Memory: the waiting changes, and a version of each assumed pod that has changed.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
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
#include "engine/pod.h"
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
  // The event of a pod that takes no room on the node any more, though it never was bound there.
  Duration SendRoom(const Pod& pod, const std::string& node,
                    const AssembledQueue::PreCheck& pre_check = {});
  // After the queue got back a pod that was assumed: it hears of the newest version that came
  // meanwhile.
  Duration CatchUp(const ClusterPodRef& failed);

 private:
  void HandleNext();
  Duration Handle(const ClusterChange& change);
  Duration HandlePod(const ClusterChange& change);
  Duration AddPod(const ClusterPodRef& pod);
  Duration HandleGroup(const ClusterChange& change);
  Duration HandleUnassignedUpdate(const ClusterPodRef& before, const ClusterPodRef& after);
  Duration HandleUnassignedDelete(const ClusterPodRef& pod);
  // The deletion of the pod has begun, or is done. Where it is on its way to a node its binding
  // will fail; until then no other pod may wait for what it holds.
  Duration LetGoOfAssumed(const ClusterPod& pod);
  // The event of a nomination that keeps no room any more. Nothing where there was none.
  Duration SendEndOfNomination(const ClusterPodRef& before);
  Duration SendAll(std::span<const ClusterEvent> events, const ObjectChange& change);

  QueueDriver* const queue_;
  SchedulerCache* const cache_;
  WaitingPods* const waiting_pods_;
  VirtualLock* const lock_;
  const CostModel& costs_;
  LoopMetrics* const metrics_;
  std::deque<ClusterChange> waiting_;
  // By number: the newest version of a pod that is assumed, where it has changed meanwhile.
  std::unordered_map<uint64_t, ClusterPodRef> withheld_;
  bool is_busy_ = false;
};

}  // namespace schedq
