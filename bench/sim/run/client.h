// The workload's client of the API server. Calls take their latency and share one rate limit.
//
// Threads: one, the one that advances the clock.
// Memory: one timer a call under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/random.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"

namespace schedq {

class Client {
 public:
  using Call = std::function<void()>;

  Client(Cluster* cluster, const CostModel& costs, const Random& random)
      : cluster_(*cluster),
        clock_(&cluster->clock()),
        interval_(costs.client_interval),
        random_(random) {}

  // Runs `act` when the call takes effect: after the wait for the rate limit and the latency.
  void Do(const CallLatency& latency, Call act);
  // Since the start.
  uint64_t calls() const { return calls_; }

  // Makes `count` calls by `workers` workers, each of which makes one call after the other. Calls
  // begin in the order of their indexes. `done` runs after the last call, or at once for a count of
  // 0.
  void DoAll(int64_t count, int workers, const CallLatency& latency,
             std::function<void(int64_t index)> act, Call done);
  // The same where each index takes several calls, which its worker makes one after the other.
  using ActStep = std::function<void(int64_t index, size_t step)>;
  void DoAllInSteps(int64_t count, int workers, std::vector<CallLatency> latencies, ActStep act,
                    Call done);

 private:
  struct Batch {
    int64_t count;
    int64_t next = 0;
    int64_t finished = 0;
    std::vector<CallLatency> latencies;  // Of the steps.
    ActStep act;
    Call done;
  };

  void Work(const std::shared_ptr<Batch>& batch);
  void TakeStep(const std::shared_ptr<Batch>& batch, int64_t index, size_t step);

  Cluster& cluster_;
  Clock* const clock_;
  const Duration interval_;
  Random random_;
  Instant next_slot_{};
  uint64_t calls_ = 0;
};

}  // namespace schedq
