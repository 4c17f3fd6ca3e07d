// Zeroed memory whose pages cost nothing until they are touched.
//
// Purpose: large arrays of cells and slots that start as zero bytes. It comes from calloc, so the
// allocator's counters include it. It starts on a cache line. Where it is large enough to profit,
// it asks for huge pages, because random access to many small pages misses the TLB as well as the
// cache.
// When not to use it: for types whose initial state is not all zero bytes.
// Threads: the owner's; the user says which threads use the contents.
#pragma once

#include <cstddef>
#include <utility>

namespace schedq {

inline constexpr size_t kCacheLineBytes = 64;

class ZeroedMemory {
 public:
  ZeroedMemory() = default;
  explicit ZeroedMemory(size_t bytes);
  ~ZeroedMemory();
  ZeroedMemory(ZeroedMemory&& other) noexcept
      : allocation_(std::exchange(other.allocation_, nullptr)),
        data_(std::exchange(other.data_, nullptr)) {}
  ZeroedMemory& operator=(ZeroedMemory&& other) noexcept {
    std::swap(allocation_, other.allocation_);
    std::swap(data_, other.data_);
    return *this;
  }

  void* data() const { return data_; }

 private:
  void* allocation_ = nullptr;
  void* data_ = nullptr;  // The first cache line of the allocation.
};

}  // namespace schedq
