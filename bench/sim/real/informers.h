// The scheduler's event handlers on the real clock: a thread for each kind of informer.
//
// Purpose: the rules of kube-scheduler's handlers. Each change goes to the scheduler's cache and to
// the assembled queue, in the order in which its kind's informer delivered it.
// Threads: Deliver on the cluster's thread; three threads of its own, for pods, for nodes, and for
// the rest.
// Memory: the changes that wait.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/waiting_pods.h"
#include "bench/sim/real/attempt_book.h"
#include "bench/sim/real/channel.h"
#include "bench/sim/real/latency_meter.h"
#include "bench/sim/real/metered_thread.h"
#include "bench/sim/real/part_clock.h"
#include "bench/sim/real/requeue_meter.h"
#include "bench/sim/real/wall_pace.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "perf/statistics/histogram.h"
#include "schedq/assembled_queue.h"

namespace schedq {

class Informers {
 public:
  // All outlive it.
  struct Surroundings {
    AssembledQueue* queue = nullptr;
    SchedulerCache* cache = nullptr;
    AttemptBook* attempts = nullptr;
    WaitingPods* waiting_pods = nullptr;
    const Clock* cluster_clock = nullptr;
    const WallPace* pace = nullptr;
  };

  explicit Informers(const Surroundings& surroundings);
  ~Informers() { Stop(); }
  Informers(const Informers&) = delete;
  Informers& operator=(const Informers&) = delete;

  void Deliver(const ClusterChange& change);
  // Whether every delivered change is handled.
  bool IsIdle() const;
  // Changes of pods that were handled, and changes of all else.
  uint64_t pods_handled() const { return lanes_[kPods].handled.load(); }
  uint64_t others_handled() const {
    return lanes_[kNodes].handled.load() + lanes_[kOthers].handled.load();
  }
  // Nodes, and what else does not come with pods, such as CSINodes.
  bool HasHandledNodes() const { return lanes_[kNodes].IsIdle() && lanes_[kOthers].IsIdle(); }
  // Drops what was delivered and not handled yet, and ends the threads. Again: nothing.
  void Stop();

  // By the thread's name.
  std::map<std::string, ThreadUsage> Usage() const;
  // From an event to the pods that it requeued, since the last call.
  LatencyHistogram TakeRequeueLatencies();
  // Of the calls that add pods to the queue, since the last call.
  LatencyHistogram TakeAddLatencies() { return adds_.Take(); }

 private:
  enum Kind : size_t { kPods, kNodes, kOthers, kKinds };

  struct Delivered {
    ClusterChange change;
    Instant at;
  };
  struct Lane {
    explicit Lane(const WallPace* pace) : requeues(pace) {}
    bool IsIdle() const { return handled.load() == delivered.load(); }

    Channel<Delivered> changes;
    // The cluster's thread and the lane's, each the only writer of its word.
    std::atomic<uint64_t> delivered{0};
    std::atomic<uint64_t> handled{0};
    RequeueMeter requeues;
    MeteredThread thread;
  };

  void Run(Lane* lane, PartClock* parts);
  void Handle(const ClusterChange& change, PartClock* parts);
  void Add(const ClusterPodRef& pod);
  void HandlePod(const ClusterChange& change, PartClock* parts);
  // The deletion of the pod has begun, or is done. Where it is on its way to a node its binding
  // will fail; until then no other pod may wait for what it holds.
  void LetGoOfAssumed(const ClusterPod& pod, PartClock* parts);

  AssembledQueue& queue_;
  SchedulerCache& cache_;
  AttemptBook& attempts_;
  WaitingPods& waiting_pods_;
  const Clock& cluster_clock_;
  std::atomic<bool> is_stopping_{false};  // Set once, by Stop.
  LatencyMeter adds_;                     // Recorded by the lane of pods.
  std::array<Lane, kKinds> lanes_;
};

}  // namespace schedq
