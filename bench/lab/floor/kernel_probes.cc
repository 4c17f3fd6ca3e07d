// Probes of the clock and the kernel: a clock read, a system call, the wake of a sleeping thread.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/lab/floor/core_pair.h"
#include "bench/lab/floor/floor.h"
#include "bench/lab/floor/timing.h"
#include "engine/base/result.h"
#include "perf/statistics/summary.h"

namespace schedq {
namespace {

double ReadClock(uint64_t count) {
  FloorClock::time_point last = FloorClock::now();
  bool is_monotonic = true;
  const double nanoseconds = NanosecondsEach(static_cast<double>(count), [&] {
    for (uint64_t i = 0; i < count; ++i) {
      const FloorClock::time_point now = FloorClock::now();
      is_monotonic = is_monotonic && now >= last;
      last = now;
    }
  });
  SCHEDQ_CHECK(is_monotonic, "the steady clock went backwards");
  return nanoseconds;
}

// getppid makes the kernel do next to nothing, and the C library does not cache its result.
double CallSystem(uint64_t count) {
  const int64_t parent = getppid();
  int64_t sum = 0;
  const double nanoseconds = NanosecondsEach(static_cast<double>(count), [&] {
    for (uint64_t i = 0; i < count; ++i) sum += syscall(SYS_getppid);
  });
  SCHEDQ_CHECK(sum == parent * static_cast<int64_t>(count), "getppid changed its answer");
  return nanoseconds;
}

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is 32 bits");

void FutexWait(std::atomic<uint32_t>& word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

// Returns the number of threads that were woken.
int64_t FutexWake(std::atomic<uint32_t>& word) {
  return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void WaitUntil(FloorClock::time_point instant) {
  while (FloorClock::now() < instant) {
  }
}

// One thread sleeps on `word` until it holds the number of the wake. The other thread waits until
// the first one sleeps, notes the time and wakes it. The sleeper notes the time at which it runs
// again. All accesses are sequentially consistent, because only the wake itself is measured.
class WakeDuel {
 public:
  explicit WakeDuel(uint32_t wakes) : sent_(wakes), received_(wakes) {}

  double MedianMicroseconds() {
    RunOnCorePair([this] { Sleep(); }, [this] { Wake(); });
    std::vector<double> latencies;
    for (size_t i = 0; i < sent_.size(); ++i) {
      SCHEDQ_CHECK(received_[i] >= sent_[i], "a thread ran before it was woken");
      const std::chrono::duration<double, std::micro> latency = received_[i] - sent_[i];
      latencies.push_back(latency.count());
    }
    return Median(latencies);
  }

 private:
  void Sleep() {
    for (uint32_t wake = 0; wake < received_.size(); ++wake) {
      arrived_.store(wake + 1);
      while (word_.load() == wake) FutexWait(word_, wake);
      received_[wake] = FloorClock::now();
    }
  }

  void Wake() {
    constexpr auto kTimeToFallAsleep = std::chrono::microseconds(50);
    for (uint32_t wake = 0; wake < sent_.size(); ++wake) {
      while (arrived_.load() != wake + 1) {
      }
      WaitUntil(FloorClock::now() + kTimeToFallAsleep);
      sent_[wake] = FloorClock::now();
      word_.store(wake + 1);
      FutexWake(word_);
    }
  }

  std::atomic<uint32_t> word_{0};     // Written by Wake: the number of wakes that were sent.
  std::atomic<uint32_t> arrived_{0};  // Written by Sleep: the number of the wake that it waits for.
  std::vector<FloorClock::time_point> sent_;
  std::vector<FloorClock::time_point> received_;
};

}  // namespace

void AddKernelProbes(std::vector<FloorProbe>& probes, FloorSize size) {
  const bool is_full = size == FloorSize::kFull;
  const uint64_t count = is_full ? 200'000 : 50'000;
  probes.push_back({{"clock_read", "One read of the steady clock.", "ns", {}, {}},
                    [count] { return ReadClock(count); },
                    ""});
  probes.push_back({{"system_call", "One getppid: into the kernel and back.", "ns", {}, {}},
                    [count] { return CallSystem(count); },
                    ""});
  const uint32_t wakes = is_full ? 101 : 31;
  probes.push_back({{"futex_wake",
                     "From the wake to the first instruction of the sleeper, on another core.",
                     "us",
                     {{"threads", 2}, {"wakes", wakes}},
                     {}},
                    [wakes] { return WakeDuel(wakes).MedianMicroseconds(); },
                    CorePairObstacle()});
}

}  // namespace schedq
