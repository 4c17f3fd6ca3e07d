// An array that grows and never moves: elements keep their address for the array's life.
//
// Purpose: the memory of slots and buckets that are named by number and read without locks. Segment
// 0 holds the first 2^first_bits elements and each further segment as many as all before it, so a
// handful of pointers covers the array and an index finds its segment by its highest bit.
// When not to use it: for types that do not start as zero bytes (shipped) or zero values (model).
// Threads: operator[] from any thread, wait-free. Reserve from any thread, lock-free: two threads
// that need the same segment both allocate it, and one of them frees its own.
// Invariants:
//  1. A segment's origin is set once.
//  2. operator[](i) is called only where Reserve(i) happens before it.
// Memory: less than twice the reserved elements, of which untouched pages cost nothing.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "engine/base/atom.h"
#include "engine/base/result.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {

template <typename Element, template <typename> class Atom = std::atomic>
class SegmentedArray {
 public:
  explicit SegmentedArray(uint32_t first_bits) : first_bits_(first_bits) {}
  SegmentedArray(const SegmentedArray&) = delete;
  SegmentedArray& operator=(const SegmentedArray&) = delete;

  // Always inline: every slot and record is read through it, and a call costs more than it does.
  [[gnu::always_inline]] Element& operator[](uint64_t index) const {
    return *ElementAt(LoadOriginOf(index), index);
  }

  // Null where nothing was reserved yet.
  Element* Find(uint64_t index) const {
    const uintptr_t origin = LoadOriginOf(index);
    return origin == kNoOrigin ? nullptr : ElementAt(origin, index);
  }

  // Makes elements 0 to `index` usable.
  void ReserveThrough(uint64_t index) {
    if (index < reserved_.load()) return;
    const uint32_t last = SegmentOf(index);
    for (uint32_t segment = 0; segment <= last; ++segment) Reserve(FirstIndexOf(segment));
    RaiseReserved(FirstIndexOf(last) + SizeOf(last));
  }

  // Makes elements 0 to `index` usable, given that those of all smaller segments were reserved.
  void Reserve(uint64_t index) {
    const uint32_t segment = SegmentOf(index);
    SCHEDQ_CHECK(segment < kSegmentsMax, "the array is full");
    if (LoadOriginOf(index) == kNoOrigin) AddSegment(segment);
  }

 private:
  static constexpr uint32_t kSegmentsMax = 33;
  static constexpr bool kZeroBytesWillDo = std::is_same_v<Atom<uint64_t>, std::atomic<uint64_t>>;
  using Memory = std::conditional_t<kZeroBytesWillDo, ZeroedMemory, std::unique_ptr<Element[]>>;
  static_assert(!kZeroBytesWillDo || std::is_trivially_destructible_v<Element>,
                "nobody destroys what was never constructed");

  uint32_t SegmentOf(uint64_t index) const {
    return static_cast<uint32_t>(std::bit_width(index >> first_bits_));
  }
  uint64_t FirstIndexOf(uint32_t segment) const {
    return segment == 0 ? 0 : uint64_t{1} << (first_bits_ + segment - 1);
  }
  uint64_t SizeOf(uint32_t segment) const {
    return uint64_t{1} << (segment == 0 ? first_bits_ : first_bits_ + segment - 1);
  }

  // A segment's origin is where element 0 would be if the segment began there, so that an index
  // finds its element without knowing the segment's first one. It is the address of nothing.
  static constexpr uintptr_t kNoOrigin = 0;
  static Element* ElementAt(uintptr_t origin, uint64_t index) {
    return reinterpret_cast<Element*>(origin + index * sizeof(Element));
  }

  // Acquire pairs with the release in AddSegment: without it an element could be read before its
  // memory was zeroed.
  uintptr_t LoadOriginOf(uint64_t index) const {
    constexpr size_t kZerosAtLeast = 64 - (kSegmentsMax - 1);
    const auto zeros = static_cast<size_t>(std::countl_zero(index >> first_bits_));
    return LoadAcquire(origins_[zeros - kZerosAtLeast]);
  }

  // Each failed exchange means that another thread raised it.
  void RaiseReserved(uint64_t count) {
    uint64_t reserved = reserved_.load();
    while (reserved < count && !reserved_.compare_exchange_weak(reserved, count)) {
    }
  }

  void AddSegment(uint32_t segment) {
    Memory memory;
    Element* elements;
    if constexpr (kZeroBytesWillDo) {
      memory = ZeroedMemory(SizeOf(segment) * sizeof(Element));
      elements = static_cast<Element*>(memory.data());
    } else {
      memory = std::make_unique<Element[]>(SizeOf(segment));
      elements = memory.get();
    }
    const uintptr_t origin =
        reinterpret_cast<uintptr_t>(elements) - FirstIndexOf(segment) * sizeof(Element);
    SCHEDQ_CHECK(origin != kNoOrigin, "memory is not where its own length would end");
    // Relaxed on failure: the thread that loses reaches the winner's memory through LoadOriginOf
    // only, which acquires.
    uintptr_t nobody = kNoOrigin;
    Atom<uintptr_t>& shared = origins_[kSegmentsMax - 1 - segment];
    if (shared.compare_exchange_strong(nobody, origin, std::memory_order_release,
                                       std::memory_order_relaxed)) {
      memory_[segment] = std::move(memory);
    }
  }

  const uint32_t first_bits_;
  // The origin of segment 0 is the last one, so that an index's leading zeros alone tell its
  // origin's place. Each is written once, by the thread that adds the segment; read by all threads,
  // and never stale after Reserve.
  std::array<Atom<uintptr_t>, kSegmentsMax> origins_{};
  // Elements below this are usable. Raised by ReserveThrough, after their segments were added; a
  // reader of a stale value checks the segments.
  Atom<uint64_t> reserved_{0};
  // Each entry is written by the thread that installed the segment and read by the destructor.
  std::array<Memory, kSegmentsMax> memory_{};
};

}  // namespace schedq
