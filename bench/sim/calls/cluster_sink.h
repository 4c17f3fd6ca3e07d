// Executes calls on the simulated cluster, with the latencies of the cost model.
//
// Purpose: the API server behind the dispatcher in a run of a workload. A scenario without a
// cluster has EmbeddedApiServer instead; both change a pod by the same rules (pod_patch.h).
// Threads: one, the one that advances the clock.
#pragma once

#include <cstdint>
#include <functional>

#include "bench/sim/calls/call_runner.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/scheduler/cost_model.h"
#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {

// All objects outlive the sink.
struct ClusterSinkOptions {
  Cluster* cluster = nullptr;
  const CostModel* costs = nullptr;
  Random* random = nullptr;
  CounterFamily* events = nullptr;  // By reason: see PodEventsIn.
  // How long a call that is repeated waits for its token. Empty: not.
  std::function<Duration()> take_token = {};
  // Where calls have no latency: they are answered within Execute, and not by a timer. What the API
  // server refuses is not repeated.
  bool answers_at_once = false;
};

class ClusterSink final : public ApiSink {
 public:
  explicit ClusterSink(const ClusterSinkOptions& options);

  void Execute(const ApiCall& call, std::function<void(const Status&)> done) override;

 private:
  Status Apply(const ApiCall& call);

  const ClusterSinkOptions options_;
  CallRunner runner_;
};

// The number of events about pods that the scheduler sent, by reason.
CounterFamily* PodEventsIn(MetricsRegistry* metrics);

}  // namespace schedq
