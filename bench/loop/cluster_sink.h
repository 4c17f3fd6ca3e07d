// Executes calls on the simulated cluster, with the latencies of the cost model.
//
// Purpose: the API server behind the dispatcher of a run of a workload, as EmbeddedApiServer is
// that of a scenario without a cluster; both change a pod by the same rules (pod_patch.h).
// Threads: one, that which advances the clock.
#pragma once

#include <functional>

#include "bench/cluster/cluster.h"
#include "bench/loop/cost_model.h"
#include "dispatcher/api_sink.h"
#include "engine/base/metrics.h"
#include "engine/base/random.h"

namespace schedq {

class ClusterSink final : public ApiSink {
 public:
  // All outlive it.
  ClusterSink(Cluster* cluster, const CostModel* costs, Random* random, MetricsRegistry* metrics);

  void Execute(const ApiCall& call, std::function<void(const Status&)> done) override;

 private:
  Status Apply(const ApiCall& call);

  Cluster* const cluster_;
  const CostModel& costs_;
  Random* const random_;
  CounterFamily* const events_;  // By reason.
};

}  // namespace schedq
