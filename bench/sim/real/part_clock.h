// Where the time of a thread goes, by part of the work.
//
// Purpose: "time a pod by part" of a run on the real clock. A thread says which part it enters; the
// time since it entered the last one belongs to that one. A thread that the kernel has set aside
// still is in its part, so the parts' shares are applied to the processor time that the thread
// used.
// Threads: SwitchTo by the thread that made it; Usage by any thread.
// Cost: one reading of the steady clock a switch.
#pragma once

#include <time.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/time/time.h"

namespace schedq {

enum class Part : uint8_t {
  kIdle,        // Nothing to do.
  kQueue,       // Adding, updating, popping, failing, ending.
  kEvents,      // Events, with the hints that they ask.
  kPlacing,     // Filtering and scoring.
  kCache,       // Following the cluster, assuming.
  kDispatcher,  // Handing calls to the dispatcher.
  kBinding,     // The steps of a binding around its calls.
  kServer,      // API server, informers, the workload's client.
};
inline constexpr size_t kParts = 8;
std::string_view PartName(Part part);

// The processor time that a clock of a thread or a process shows.
double CpuSeconds(clockid_t clock);

struct ThreadUsage {
  double cpu = 0;                      // Processor time, in seconds as all times here.
  std::array<double, kParts> spent{};  // Time by Part, also while the kernel had set it aside.
  double allocated_bytes = 0;          // Freed since or not; 0 without jemalloc.

  ThreadUsage Since(const ThreadUsage& before) const;
  // The processor time, split by the time in each part but kIdle, which has none.
  std::array<double, kParts> CpuByPart() const;
};

class PartClock {
 public:
  // Made by the thread that it watches.
  PartClock();

  void SwitchTo(Part part) {
    const MonotonicTime now = SteadyNow();
    auto& spent = spent_[static_cast<size_t>(part_)];
    // Only this thread writes.
    spent.store(spent.load(std::memory_order_relaxed) + (now - since_).count(),
                std::memory_order_relaxed);
    part_ = part;
    since_ = now;
  }

  // Since the thread began. Relaxed readings: parts may be a switch apart from each other.
  ThreadUsage Usage() const;

 private:
  const clockid_t cpu_clock_;
  uint64_t* const allocated_bytes_;  // The allocator's word; may be null.
  Part part_ = Part::kIdle;
  MonotonicTime since_ = SteadyNow();
  std::array<std::atomic<int64_t>, kParts> spent_{};  // Nanoseconds, written by the thread.
};

// Enters a part, and goes back to `after` at the end of the scope.
class InPart {
 public:
  InPart(PartClock* clock, Part part, Part after = Part::kIdle) : clock_(*clock), after_(after) {
    clock_.SwitchTo(part);
  }
  ~InPart() { clock_.SwitchTo(after_); }
  InPart(const InPart&) = delete;
  InPart& operator=(const InPart&) = delete;

 private:
  PartClock& clock_;
  const Part after_;
};

}  // namespace schedq
