#include "engine/backoff.h"

#include <cmath>

#include "engine/base/time/maybe_instant.h"

namespace schedq {

BackoffPolicy BackoffPolicy::OfGroup(size_t pods) const {
  if (pods <= 1) return *this;
  const double scaled = static_cast<double>(maximum.count()) * std::sqrt(static_cast<double>(pods));
  constexpr auto kMax = static_cast<double>(Duration::max().count());
  const auto longest =
      scaled < kMax ? Duration(static_cast<Duration::rep>(scaled)) : Duration::max();
  return {.initial = initial, .maximum = longest};
}

Duration BackoffPolicy::DurationFor(uint32_t count) const {
  if (count == 0) return Duration::zero();
  const uint32_t doublings = count - 1;
  // Halve the maximum instead of doubling the initial value: that cannot overflow. Beyond 62
  // doublings the halved maximum is 0 and any shift would be undefined.
  if (doublings > 62 || initial.count() > (maximum.count() >> doublings)) return maximum;
  return Duration(initial.count() << doublings);
}

MaybeInstant BackoffPolicy::ExpirationOf(QueueingFields* fields, bool windows) const {
  const uint32_t count =
      fields->consecutive_errors > 0 ? fields->consecutive_errors : fields->unschedulable_count;
  if (count == 0 || maximum == Duration::zero()) return {};
  if (!fields->backoff_expiration) {
    const Duration duration = DurationFor(count);
    const Instant exact = After(fields->timestamp, duration);
    fields->backoff_expiration = windows ? TruncateToSecond(exact) : exact;
  }
  return fields->backoff_expiration;
}

}  // namespace schedq
