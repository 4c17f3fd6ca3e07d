#include "bench/allocation_meter.h"

#include <malloc.h>

#include <cstddef>

// jemalloc's control call; null unless jemalloc is linked or preloaded.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old_value, size_t* old_size,
                                             void* new_value, size_t new_size);

namespace schedq {
namespace {

template <typename T>
bool Read(const char* name, T* value) {
  size_t size = sizeof(T);
  return mallctl(name, value, &size, nullptr, 0) == 0;
}

// jemalloc updates its statistics at an epoch, and counts a thread's cache only after its flush.
bool Refresh() {
  if (mallctl == nullptr) return false;
  uint64_t epoch = 1;
  size_t size = sizeof(epoch);
  return mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0) == 0 &&
         mallctl("epoch", &epoch, &size, &epoch, size) == 0;
}

std::optional<Allocations> ReadNow() {
  if (!Refresh()) return std::nullopt;
  uint64_t bytes = 0;
  uint64_t small = 0;
  uint64_t large = 0;
  // 4096 is jemalloc's number for all arenas together.
  const bool is_read = Read("thread.allocated", &bytes) &&
                       Read("stats.arenas.4096.small.nrequests", &small) &&
                       Read("stats.arenas.4096.large.nrequests", &large);
  if (!is_read) return std::nullopt;
  return Allocations{static_cast<double>(bytes), static_cast<double>(small + large)};
}

}  // namespace

AllocationMeter::AllocationMeter() : start_(ReadNow()) {}

std::optional<Allocations> AllocationMeter::SinceStart() const {
  const std::optional<Allocations> now = ReadNow();
  if (!start_ || !now) return std::nullopt;
  return Allocations{now->bytes - start_->bytes, now->requests - start_->requests};
}

uint64_t* BytesAllocatedByThisThread() {
  uint64_t* counter = nullptr;
  return mallctl != nullptr && Read("thread.allocatedp", &counter) ? counter : nullptr;
}

std::optional<double> BytesInUse() {
  if (mallctl == nullptr) {
    // Of all of glibc's arenas, and what it mapped apart. A sanitizer's allocator says 0.
    const struct mallinfo2 use = mallinfo2();
    const size_t sum = use.uordblks + use.hblkhd;
    return sum == 0 ? std::nullopt : std::optional<double>(static_cast<double>(sum));
  }
  size_t bytes = 0;
  if (!Refresh() || !Read("stats.allocated", &bytes)) return std::nullopt;
  return static_cast<double>(bytes);
}

}  // namespace schedq
