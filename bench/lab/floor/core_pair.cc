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
  std::array<std::thread, 2> threads;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&, i] {
      PinThread(cpu[i]);
      ready.fetch_add(1);
      while (ready.load() < 2) std::this_thread::yield();
      start[i] = FloorClock::now();
      (*work[i])();
      end[i] = FloorClock::now();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::chrono::duration<double>(std::max(end[0], end[1]) - std::min(start[0], start[1]))
      .count();
}

}  // namespace schedq
