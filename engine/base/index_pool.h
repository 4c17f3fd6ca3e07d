// Numbered elements of one type, allocated and freed without locks, and used again.
//
// Purpose: slots and blocks whose memory never changes its type. A late reader therefore reads a
// newer element and not freed memory; generation counters tell it so.
// When not to use it: where memory must go back to the allocator.
// Threads: all operations from any thread. Allocate and Free are lock-free: a failed exchange means
// that another thread's succeeded. Linearization points: the exchange on the head, or for a fresh
// element the addition to the count of elements used.
// Invariants:
//  1. An element is free (on the list), fresh (never allocated) or owned by the caller that
//     allocated it.
//  2. Numbers are below the limit. While none is free the pool refuses; what is given back it
//     gives again.
//  3. The head's tag grows with each change, so that a list that changed in between is never
//     mistaken for the one that was read, unless 2^32 changes fall into one step of one thread.
// Memory: as many elements as were ever owned at one time; it is never freed.
// Source: R. K. Treiber, Systems Programming: Coping with Parallelism, 1986 (with counted
// pointers).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/base/atom.h"
#include "engine/base/result.h"
#include "engine/base/segmented_array.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {

// Element has `Atom<uint64_t>& FreeLink()`, a word that the pool uses while the element is free.
template <typename Element, template <typename> class Atom = std::atomic>
class IndexPool {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  explicit IndexPool(uint32_t first_bits, uint32_t limit = kNone)
      : limit_(limit), elements_(first_bits) {}

  Element& operator[](uint32_t index) const { return elements_[index]; }

  // For an owner that has argued that the limit is never reached.
  uint32_t Allocate() {
    const uint32_t index = TryAllocate();
    SCHEDQ_CHECK(index != kNone, "the pool is not asked for more elements than it may have");
    return index;
  }

  // The index of an element that the caller now owns. It contains what its last owner left in it.
  // kNone: as many as the limit are owned by others.
  uint32_t TryAllocate() {
    uint64_t head = LoadHead();
    while (IndexIn(head) != kNone) {
      // The element may be allocated by another thread meanwhile and its link overwritten; then
      // the head's tag has moved on and the exchange fails.
      const uint64_t below = LoadRelaxed(elements_[IndexIn(head)].FreeLink());
      if (ExchangeHead(head, Head(head, static_cast<uint32_t>(below)))) return IndexIn(head);
    }
    const uint64_t fresh = used_.fetch_add(1, std::memory_order_relaxed);
    if (fresh >= limit_) [[unlikely]] {
      // Each one takes back its own addition, so the count stays at the limit or above.
      used_.fetch_sub(1, std::memory_order_relaxed);
      return kNone;
    }
    elements_.Reserve(fresh);
    PrefetchNext(elements_[fresh]);
    return static_cast<uint32_t>(fresh);
  }

  void Free(uint32_t index) {
    uint64_t head = LoadHead();
    do {
      StoreRelaxed(elements_[index].FreeLink(), uint64_t{IndexIn(head)});
    } while (!ExchangeHead(head, Head(head, index)));
  }

  // Elements that were ever allocated. May be stale.
  uint64_t Used() const { return LoadRelaxed(used_); }

 private:
  // Fresh elements are adjacent in memory. A thread that fills one mostly ends with an exchange,
  // which waits until the written cache lines have come. So the next elements are prefetched;
  // beyond the end of a segment the prefetch has no effect.
  static void PrefetchNext(const Element& element) {
    if constexpr (sizeof(Element) <= 2 * kCacheLineBytes) {
      const char* next = reinterpret_cast<const char*>(&element + kPrefetchDistance);
      for (size_t line = 0; line < sizeof(Element); line += kCacheLineBytes) {
        __builtin_prefetch(next + line, /*for a write*/ 1);
      }
    }
  }
  static constexpr size_t kPrefetchDistance = 3;

  // The head is (tag, index); the index is kept inverted so that a zero word is an empty list.
  static uint32_t IndexIn(uint64_t head) { return ~static_cast<uint32_t>(head); }
  static uint64_t Head(uint64_t before, uint32_t index) {
    const uint64_t tag = (before >> 32) + 1;
    return tag << 32 | static_cast<uint32_t>(~index);
  }

  // Acquire pairs with the release of the Free that put the element on top: without it the link
  // below it, and the element's last contents, could be stale.
  uint64_t LoadHead() const { return LoadAcquire(head_); }
  // Release alone: what was expected came from a load that acquired, and its tag is unique.
  bool ExchangeHead(uint64_t& expected, uint64_t desired) {
    return head_.compare_exchange_weak(expected, desired, std::memory_order_release,
                                       std::memory_order_acquire);
  }

  // Written by every Allocate and Free, so both words share a line of their own.
  alignas(kCacheLineBytes) Atom<uint64_t> head_{0};
  Atom<uint64_t> used_{0};
  const uint32_t limit_;
  alignas(kCacheLineBytes) SegmentedArray<Element, Atom> elements_;
};

}  // namespace schedq
