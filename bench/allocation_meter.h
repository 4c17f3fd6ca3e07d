// Counts the allocations of a piece of work, by jemalloc's own counters.
//
// When not to use it: while other threads work. Bytes are those of the calling thread, but requests
// are those of the whole process.
// Threads: one thread starts and ends a meter.
#pragma once

#include <cstdint>
#include <optional>

namespace schedq {

struct Allocations {
  double bytes = 0;     // Bytes that were allocated, whether or not they were freed since.
  double requests = 0;  // Number of calls that allocated.
};

class AllocationMeter {
 public:
  AllocationMeter();
  // Allocations since construction; nullopt unless the program runs on jemalloc.
  std::optional<Allocations> SinceStart() const;

 private:
  std::optional<Allocations> start_;
};

// The bytes that the whole process uses, after the calling thread's cache was flushed.
std::optional<double> BytesInUse();

}  // namespace schedq
