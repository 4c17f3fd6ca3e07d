#include "bench/sim/real/wall_pace.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace schedq {
namespace {

// Timers and calls take turns of at most so many, so that neither waits long for the other.
constexpr int kTurn = 64;
// `done` is asked at least so often, because what it reads may change without a call.
constexpr Duration kSleepMax = std::chrono::milliseconds(1);

}  // namespace

void WallPace::Post(Call call) {
  posted_.fetch_add(1);
  calls_.Push(std::move(call));
}

bool WallPace::RunCalls() {
  Call call;
  int count = 0;
  while (count < kTurn && calls_.TryPop(&call)) {
    call();
    run_.fetch_add(1);
    ++count;
  }
  return count > 0;
}

bool WallPace::RunUntil(VirtualClock* clock, const std::function<bool()>& done, Instant limit) {
  const InPart in_part(&parts_, Part::kServer);
  while (!done()) {
    const Instant now = wall_.Now();
    if (now >= limit) return false;
    int timers = 0;
    // One more than a turn is asked about, because it is asked before the first timer too.
    const bool has_more = clock->RunUntil([&timers] { return timers++ == kTurn; }, now);
    // Calls take effect at the present, where no timer is late.
    if (!has_more) clock->AdvanceTo(now);
    if (RunCalls() || has_more || timers > 1) continue;
    SleepUntil(clock, std::min({now + kSleepMax, limit, clock->NextTimer().value_or(limit)}));
  }
  return true;
}

void WallPace::SleepUntil(VirtualClock* clock, Instant at) {
  const bool is_quiet = is_quiet_ && is_quiet_();
  parts_.SwitchTo(Part::kIdle);
  const MonotonicTime began = SteadyNow();
  Call call;
  const bool has_call = calls_.Pop(&call, began + (at - wall_.Now()));
  parts_.SwitchTo(Part::kServer);
  if (is_quiet) quiet_ += SteadyNow() - began;
  if (!has_call) return;
  clock->AdvanceTo(wall_.Now());
  call();
  run_.fetch_add(1);
}

}  // namespace schedq
