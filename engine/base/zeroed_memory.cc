#include "engine/base/zeroed_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "engine/base/result.h"

namespace schedq {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

uintptr_t RoundUp(uintptr_t address, size_t unit) { return (address + unit - 1) / unit * unit; }

// Advice only: that it is refused changes nothing but speed.
void AskForHugePages(void* memory, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = RoundUp(first, kHugePageBytes);
  const uintptr_t end = (first + bytes) / kHugePageBytes * kHugePageBytes;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

// Large memory mostly begins on a cache line anyway, and a line more than a power of two would cost
// a quarter more of it: allocators round up.
ZeroedMemory::ZeroedMemory(size_t bytes) : allocation_(std::calloc(bytes, 1)) {
  if (reinterpret_cast<uintptr_t>(allocation_) % kCacheLineBytes != 0) {
    std::free(allocation_);
    allocation_ = std::calloc(bytes + kCacheLineBytes, 1);
  }
  SCHEDQ_CHECK(allocation_ != nullptr, "out of memory");
  data_ =
      reinterpret_cast<void*>(RoundUp(reinterpret_cast<uintptr_t>(allocation_), kCacheLineBytes));
  AskForHugePages(data_, bytes);
}

ZeroedMemory::~ZeroedMemory() { std::free(allocation_); }

}  // namespace schedq
