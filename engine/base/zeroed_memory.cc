#include "engine/base/zeroed_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace schedq {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

uintptr_t RoundUp(uintptr_t address, size_t unit) { return (address + unit - 1) / unit * unit; }

// Advice only: if the kernel refuses it, nothing changes but speed.
void AskForHugePages(void* memory, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = RoundUp(first, kHugePageBytes);
  const uintptr_t end = (first + bytes) / kHugePageBytes * kHugePageBytes;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

// Large memory mostly begins on a cache line anyway. Allocators round up, so a size of one line
// above a power of two would cost a quarter more memory.
ZeroedMemory::ZeroedMemory(size_t bytes) : allocation_(std::calloc(bytes, 1)) {
  if (reinterpret_cast<uintptr_t>(allocation_) % kCacheLineBytes != 0) {
    std::free(allocation_);
    allocation_ = std::calloc(bytes + kCacheLineBytes, 1);
  }
  // As operator new: a caller may end what needed the memory, and go on.
  if (allocation_ == nullptr) throw std::bad_alloc();
  data_ =
      reinterpret_cast<void*>(RoundUp(reinterpret_cast<uintptr_t>(allocation_), kCacheLineBytes));
  AskForHugePages(data_, bytes);
}

ZeroedMemory::~ZeroedMemory() { std::free(allocation_); }

}  // namespace schedq
