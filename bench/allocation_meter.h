// Counts the allocations of a piece of work, by jemalloc's own counters.
//
// When not to use it: for bytes, while other threads work, and for requests of few pieces of work
// then. Bytes are those of the calling thread. Requests are those of the whole process; what other
// threads have in their caches, some hundreds a thread, is not counted yet.
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

// A counter of the bytes that the calling thread has allocated, freed since or not. Other threads
// may read it while that thread lives; nobody may write it. Null unless the program runs on
// jemalloc.
uint64_t* BytesAllocatedByThisThread();

// The bytes that the whole process has allocated and not freed, after the calling thread's cache
// was flushed. By jemalloc, or else by glibc; nullopt where neither counts (a sanitizer's
// allocator).
std::optional<double> BytesInUse();

}  // namespace schedq
