// Instants and durations. An Instant is absolute (Unix epoch), because backoff windows are whole
// seconds of absolute time; a MonotonicTime is for waiting and measuring.
#pragma once

#include <chrono>
#include <cstdint>

namespace schedq {

using Duration = std::chrono::nanoseconds;
using Instant = std::chrono::time_point<std::chrono::system_clock, Duration>;
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline constexpr Duration kSecond = std::chrono::seconds(1);

// The machine's monotonic time.
inline MonotonicTime SteadyNow() { return std::chrono::steady_clock::now(); }

// `duration` after `time`; where the clock's type ends sooner, its last instant. A wait until then
// has no end.
template <typename Time>
Time After(Time time, Duration duration) {
  return duration > Duration::zero() && time > Time::max() - duration ? Time::max()
                                                                      : time + duration;
}

// The whole second of absolute time that `instant` lies in.
inline Instant TruncateToSecond(Instant instant) {
  return Instant(std::chrono::floor<std::chrono::seconds>(instant.time_since_epoch()));
}

// The first whole second of absolute time after `instant`: where windows begin and tickers start.
inline Instant NextWholeSecond(Instant instant) { return TruncateToSecond(instant) + kSecond; }

}  // namespace schedq
