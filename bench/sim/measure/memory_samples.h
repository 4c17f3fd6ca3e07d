// The memory of a measured section on the real clock, as scheduler_perf reports it.
//
// Rules: a sample at the start, every 500 ms, and no other; MB are 2^20 bytes. scheduler_perf
// samples what Go's heap has in use, here it is what is resident of the process.
// Threads: one.
#pragma once

#include <chrono>
#include <vector>

#include "bench/memory_guard.h"
#include "engine/base/time/time.h"
#include "perf/documents/data_items.h"

namespace schedq {

class MemorySamples {
 public:
  static constexpr Duration kInterval = std::chrono::milliseconds(500);

  explicit MemorySamples(Instant start) : guard_(0) { Sample(start); }

  void Sample(Instant now);

  // heap_memory_usage and memory_growth_rate. The caller sets the names.
  std::vector<DataItem> Items() const;

 private:
  const MemoryGuard guard_;
  Instant first_{};
  Instant last_{};
  std::vector<double> megabytes_;
};

}  // namespace schedq
