// Tokens that come at a steady rate up to a burst, on ticks: the client-side limit of a client-go
// client. Threads: one at a time. Memory: constant.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dispatcher/timer_wheel/tick_buckets.h"
#include "engine/base/time/time.h"

namespace schedq {

class RateLimit {
 public:
  // No limit when `calls_per_second` is 0.
  RateLimit(double calls_per_second, uint32_t burst, Duration tick)
      : ticks_per_token_(calls_per_second == 0
                             ? 0
                             : static_cast<double>(kSecond.count()) /
                                   (calls_per_second * static_cast<double>(tick.count()))),
        burst_(static_cast<double>(std::max(burst, 1u))),
        tokens_(burst_) {}

  bool HasToken(Tick now) {
    Refill(now);
    return ticks_per_token_ == 0 || tokens_ >= kWhole;
  }
  void SpendToken() {
    if (ticks_per_token_ != 0) tokens_ -= 1;
  }
  // Takes a token for a call that waits for it in the order of asking: returns the tick by which
  // the token is there. Until then HasToken is false.
  Tick Reserve(Tick now) {
    Refill(now);
    SpendToken();
    if (ticks_per_token_ == 0 || tokens_ >= kWhole - 1) return now;
    return refilled_at_ + 1 + static_cast<Tick>(-tokens_ * ticks_per_token_);
  }
  // By this tick HasToken is true.
  Tick NextTick() const {
    if (ticks_per_token_ == 0 || tokens_ >= kWhole) return refilled_at_;
    return refilled_at_ + 1 + static_cast<Tick>((kWhole - tokens_) * ticks_per_token_);
  }

 private:
  // Additions of fractions round down: this counts as a whole token.
  static constexpr double kWhole = 1 - 1e-9;

  void Refill(Tick now) {
    if (now <= refilled_at_ || ticks_per_token_ == 0) return;
    const double passed = static_cast<double>(now - refilled_at_);
    tokens_ = std::min(burst_, tokens_ + passed / ticks_per_token_);
    refilled_at_ = now;
  }

  const double ticks_per_token_;
  const double burst_;
  double tokens_;
  Tick refilled_at_ = 0;
};

}  // namespace schedq
