// Lets a call of the scheduler take its time, and repeats it as kube-scheduler does where the API
// server is out: bindings and patches three times, after 10, 50 and 250 ms and up to a tenth more.
//
// Threads: one, the one that advances the clock. Memory: a timer for each call under way.
#pragma once

#include <functional>
#include <utility>

#include "bench/format/workload/fault.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {

class CallRunner {
 public:
  using Act = std::function<void(const Status& taken)>;

  // All outlive it. `take_token` says how long a repeated call waits for its token; empty: not.
  CallRunner(Cluster* cluster, Random* random, std::function<Duration()> take_token)
      : cluster_(*cluster), random_(*random), take_token_(std::move(take_token)) {}

  // Runs `act` at the call's end: with an error where the API server has refused it.
  void Run(CallKind kind, const CallLatency& latency, Act act) {
    Try({kind, latency, std::move(act), 0}, Duration(0));
  }
  // Without a latency, and without repeating it.
  Status RunAtOnce(CallKind kind) const;

 private:
  struct Call {
    CallKind kind;
    CallLatency latency;
    Act act;
    int refusals = 0;
  };

  void Try(Call call, Duration wait);
  void End(Call call);

  Cluster& cluster_;
  Random& random_;
  const std::function<Duration()> take_token_;
};

}  // namespace schedq
