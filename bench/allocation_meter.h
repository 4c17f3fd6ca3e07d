// What the allocator did for the calling thread, by jemalloc's own counters.
//
// When not to use it: around work of other threads; bytes are this thread's, requests the
// process's.
// Threads: one thread starts and ends a meter.
#pragma once

#include <cstdint>
#include <optional>

namespace schedq {

struct Allocations {
  double bytes = 0;     // Allocated, whether or not freed since.
  double requests = 0;  // Calls that allocated.
};

class AllocationMeter {
 public:
  AllocationMeter();
  // Since construction; nothing unless the program runs on jemalloc.
  std::optional<Allocations> Taken() const;

 private:
  std::optional<Allocations> start_;
};

// Bytes in use by the whole process, with what this thread keeps for itself given back first.
std::optional<double> BytesInUse();

}  // namespace schedq
