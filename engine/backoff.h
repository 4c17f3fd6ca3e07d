// How long a pod backs off, and the windows that backoff is counted in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/queueing_fields.h"

namespace schedq {

inline constexpr Duration kFlushUnschedulablePeriod = std::chrono::seconds(30);

struct BackoffPolicy {
  Duration initial = std::chrono::seconds(1);
  Duration maximum = std::chrono::seconds(10);  // 0: no backoff at all.

  // That of a group of so many pods: its maximum is longer by the square root of their number.
  BackoffPolicy OfGroup(size_t pods) const;

  // min(initial x 2^(count-1), maximum), safe from overflow; 0 for count 0.
  Duration DurationFor(uint32_t count) const;

  // When the backoff of an entity with these fields ends; none: it has none. Computed once after a
  // failure and kept in the fields. With `windows`, truncated to its second of absolute time.
  MaybeInstant ExpirationOf(QueueingFields* fields, bool windows) const;
};

}  // namespace schedq
