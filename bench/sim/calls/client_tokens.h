// The tokens of a client of the API server: a call waits for one in the order of asking.
//
// When not to use it: for calls that a dispatcher holds back until there is a token (call_queue.h).
// Threads: one, the one that advances the clock. Memory: constant.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "bench/sim/calls/call_settings.h"
#include "bench/sim/scheduler/cost_model.h"
#include "dispatcher/rate_limit.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"

namespace schedq {

struct ClientRate {
  double calls_per_second = 0;
  uint32_t burst = 0;

  // The settings go before the model.
  static ClientRate Of(const CallSettings& settings, const CostModel& costs) {
    ClientRate rate{settings.calls_per_second, settings.burst};
    if (rate.calls_per_second == 0) {
      rate.calls_per_second =
          static_cast<double>(kSecond.count()) / static_cast<double>(costs.client_interval.count());
    }
    if (rate.burst == 0) rate.burst = static_cast<uint32_t>(std::max(rate.calls_per_second, 1.0));
    return rate;
  }
};

class ClientTokens {
 public:
  ClientTokens(Clock* clock, const ClientRate& rate)
      : clock_(*clock), epoch_(clock->Now()), limit_(rate.calls_per_second, rate.burst, kTick) {}

  // How long the call waits for its token.
  Duration Take() {
    const Duration passed = clock_.Now() - epoch_;
    const Tick now = static_cast<Tick>(passed / kTick);
    const Tick at = limit_.Reserve(now);
    return at == now ? Duration(0) : static_cast<int64_t>(at) * kTick - passed;
  }

 private:
  static constexpr Duration kTick = std::chrono::milliseconds(1);

  Clock& clock_;
  const Instant epoch_;
  RateLimit limit_;
};

}  // namespace schedq
