// A scheduler of the simulated cluster, as a run sees it: one on the virtual clock, one on the
// real.
#pragma once

#include <string>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/queue/queue_watch.h"
#include "engine/base/metrics/metrics.h"

namespace schedq {

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // The engine's metrics, and those of the scheduler around it.
  virtual const MetricsRegistry& queue_metrics() const = 0;
  virtual const MetricsRegistry& loop_metrics() const = 0;
  // Null on the real clock.
  virtual QueueWatch* watch() = 0;
  // Whether all delivered changes are handled.
  virtual bool IsCaughtUp() const = 0;
  // For the audit: whether the pod is in the queue, in flight, or in a binding.
  virtual bool Knows(const ClusterPod& pod) const = 0;
  // For the audit: whether the pod is on its way to a node.
  virtual bool IsOnItsWay(const ClusterPod& pod) const = 0;
  // For the audit: what the scheduler found wrong with its queue by itself.
  virtual std::vector<std::string> Faults() const { return {}; }
  // Throws what was thrown where nobody could catch it: without what should have followed, the
  // results are wrong.
  virtual void Rethrow() const {}
};

}  // namespace schedq
