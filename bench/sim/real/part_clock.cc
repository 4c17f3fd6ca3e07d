#include "bench/sim/real/part_clock.h"

#include <pthread.h>
#include <time.h>

#include "bench/allocation_meter.h"

namespace schedq {
namespace {

clockid_t CpuClockOfThisThread() {
  clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
  // Fails only for a thread that has ended.
  static_cast<void>(pthread_getcpuclockid(pthread_self(), &clock));
  return clock;
}

}  // namespace

double CpuSeconds(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  constexpr double kNanosecondsPerSecond = 1e9;
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) / kNanosecondsPerSecond;
}

std::string_view PartName(Part part) {
  static constexpr std::array<std::string_view, kParts> kNames = {
      "idle", "queue", "events", "placing", "cache", "dispatcher", "binding", "server"};
  return kNames[static_cast<size_t>(part)];
}

PartClock::PartClock()
    : cpu_clock_(CpuClockOfThisThread()), allocated_bytes_(BytesAllocatedByThisThread()) {}

ThreadUsage ThreadUsage::Since(const ThreadUsage& before) const {
  ThreadUsage since;
  since.cpu = cpu - before.cpu;
  for (size_t i = 0; i < kParts; ++i) since.spent[i] = spent[i] - before.spent[i];
  since.allocated_bytes = allocated_bytes - before.allocated_bytes;
  return since;
}

std::array<double, kParts> ThreadUsage::CpuByPart() const {
  std::array<double, kParts> parts{};
  double busy = 0;
  for (size_t i = 1; i < kParts; ++i) busy += spent[i];
  if (busy <= 0) return parts;
  for (size_t i = 1; i < kParts; ++i) parts[i] = cpu * spent[i] / busy;
  return parts;
}

ThreadUsage PartClock::Usage() const {
  constexpr double kNanosecondsPerSecond = 1e9;
  ThreadUsage usage;
  usage.cpu = CpuSeconds(cpu_clock_);
  if (allocated_bytes_ != nullptr) {
    // Relaxed: a sum that stands alone.
    const std::atomic_ref allocated(*allocated_bytes_);
    usage.allocated_bytes = static_cast<double>(allocated.load(std::memory_order_relaxed));
  }
  for (size_t i = 0; i < kParts; ++i) {
    usage.spent[i] =
        static_cast<double>(spent_[i].load(std::memory_order_relaxed)) / kNanosecondsPerSecond;
  }
  return usage;
}

}  // namespace schedq
