// How long a pod backs off, and the windows that backoff is counted in.
#pragma once

#include <cstdint>

#include "engine/base/time.h"

namespace schedq {

struct BackoffPolicy {
  Duration initial = std::chrono::seconds(1);
  Duration maximum = std::chrono::seconds(10);  // 0: no backoff at all.

  // min(initial x 2^(count-1), maximum), safe from overflow; 0 for count 0.
  Duration DurationFor(uint32_t count) const;
};

}  // namespace schedq
