// The workload's client of the API server: calls take their latency and share one rate limit.
//
// Threads: one, that which advances the clock.
// Memory: one timer a call under way.
#pragma once

#include <functional>
#include <memory>

#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/random.h"
#include "engine/base/time/clock.h"

namespace schedq {

class Client {
 public:
  using Call = std::function<void()>;

  Client(Clock* clock, const CostModel& costs, const Random& random)
      : clock_(clock), interval_(costs.client_interval), random_(random) {}

  // Runs `act` when the call takes effect: after waiting for the rate limit, and its latency.
  void Do(const CallLatency& latency, Call act);

  // `count` calls by `workers` that each make one call after the other; the calls begin in the
  // order of their indexes. `done` runs after the last; at once if there are none.
  void DoAll(int64_t count, int workers, const CallLatency& latency,
             std::function<void(int64_t index)> act, Call done);

 private:
  struct Batch {
    int64_t count;
    int64_t next = 0;
    int64_t finished = 0;
    CallLatency latency;
    std::function<void(int64_t)> act;
    Call done;
  };

  void Work(const std::shared_ptr<Batch>& batch);

  Clock* const clock_;
  const Duration interval_;
  Random random_;
  Instant next_slot_{};
};

}  // namespace schedq
