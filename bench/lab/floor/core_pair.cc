#include "bench/lab/floor/core_pair.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "bench/cpu.h"
#include "bench/lab/floor/timing.h"

namespace schedq {

std::string CorePairObstacle() {
  return UsableCpus().size() >= 2 ? "" : "needs two cores, the process may use one";
}

double RunOnCorePair(const std::function<void()>& first, const std::function<void()>& second) {
  const std::vector<int> cpus = UsableCpus();
  const std::array<const std::function<void()>*, 2> work = {&first, &second};
  const std::array<int, 2> cpu = {cpus.front(), cpus.back()};
  std::array<FloorClock::time_point, 2> start;
  std::array<FloorClock::time_point, 2> end;
  std::atomic<int> ready{0};
  std::atomic<bool> is_alone{false};
  const auto run = [&](size_t i) {
    PinThread(cpu[i]);
    ready.fetch_add(1);
    while (ready.load() < 2) {
      if (is_alone.load()) return;
      std::this_thread::yield();
    }
    start[i] = FloorClock::now();
    (*work[i])();
    end[i] = FloorClock::now();
  };
  std::jthread one(run, 0);
  try {
    std::jthread other(run, 1);
  } catch (...) {
    is_alone.store(true);  // Memory or threads have run out.
    throw;
  }
  one.join();
  return std::chrono::duration<double>(std::max(end[0], end[1]) - std::min(start[0], start[1]))
      .count();
}

}  // namespace schedq
