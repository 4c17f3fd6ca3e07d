#include "bench/sim/cluster/processors.h"

#include <algorithm>

namespace schedq {

Duration Processors::Backlog() const { return std::max(Duration(0), calls_end_ - clock_.Now()); }

Duration Processors::BeginCall() {
  if (options_.call_work == Duration(0)) return Duration(0);
  const Instant now = clock_.Now();
  const Duration wait = Backlog();
  // In halves of a processor.
  const int all = 2 * options_.count;
  const int left = now < thread_end_ ? all - 1 : all;
  calls_end_ = now + wait + 2 * options_.call_work / left;
  return wait;
}

// Half as fast until the calls are worked on, as far as they are known.
Duration Processors::TimeOf(Duration work) const { return work + std::min(work, Backlog() / 2); }

int Processors::Helpers() const {
  constexpr int kNodesSideBySide = 16;
  return std::clamp(options_.count - 1, 1, kNodesSideBySide);
}

Duration Processors::BeginHandling(Duration work) {
  const Duration time = TimeOf(work);
  if (options_.call_work != Duration(0)) {
    calls_end_ = clock_.Now() + Backlog() + work / options_.count;
  }
  return time;
}

// What other goroutines than the thread's do for nodes is taken from calls.
Duration Processors::BeginWork(Duration work, Duration of_nodes) {
  const Duration own = of_nodes / Helpers();
  const Duration time = TimeOf(work + own);
  if (options_.call_work != Duration(0)) {
    calls_end_ = clock_.Now() + Backlog() + (of_nodes - own) / options_.count;
  }
  thread_end_ = clock_.Now() + time;
  return time;
}

}  // namespace schedq
