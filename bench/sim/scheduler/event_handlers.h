// The scheduler's event handlers: they turn each change that the informers deliver into operations
// of the queue.
//
// Purpose: the rules of kube-scheduler's handlers. A pod without a node goes to the queue, and a
// pod with a node is an AssignedPod event. The update of a node is one event for each changed part.
// A nomination that ends is an event for the pods from which it kept room.
// The updates of an assumed pod reach the queue when its binding has failed.
// Threads: a virtual thread for each kind of object, as each of kube-scheduler's informers has a
// handler of its own. It handles one change of its kind after the other, and each holds the queue's
// lock for the cost of its operations. So where the handling of a kind lags behind, others go on,
// and a pod may be told of a claim that the scheduler does not know yet.
// Memory: the waiting changes, and a version of each assumed pod that has changed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/processors.h"
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
                Processors* processors, const CostModel& costs, LoopMetrics* metrics)
      : queue_(queue),
        cache_(cache),
        waiting_pods_(waiting),
        lock_(lock),
        processors_(*processors),
        costs_(costs),
        metrics_(metrics) {}

  void OnChange(const ClusterChange& change);
  // Whether delivered changes are not handled yet.
  bool is_busy() const { return busy_streams_ > 0; }

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
  // The changes of one kind that wait.
  struct Stream {
    std::deque<ClusterChange> waiting;
    bool is_busy = false;
  };
  // Those of namespaces and of taint rules, which are no resources, come last.
  static constexpr size_t kStreamCount = kResourceCount + 2;

  Stream* StreamOf(const ClusterChange& change);
  void HandleNext(Stream* stream);
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
  Processors& processors_;
  const CostModel& costs_;
  LoopMetrics* const metrics_;
  std::array<Stream, kStreamCount> streams_;
  // By number: the newest version of a pod that is assumed, where it has changed meanwhile.
  std::unordered_map<uint64_t, ClusterPodRef> withheld_;
  size_t busy_streams_ = 0;
};

}  // namespace schedq
