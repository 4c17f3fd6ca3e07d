// Rivals of `schedq scale`, written over the seam: a queue behind one mutex, and a combining one.
//
// Purpose: the same code runs on virtual threads, where its lines are counted, and on real ones,
// where it is measured. What they guard is in cells of the seam, so that a heap's levels and a
// map's places are lines that move from core to core with the lock.
// When not to use it: as a queue of a product; bench/lab/micro has the libraries' own.
// Threads: any; Push and TryPop block.
// Memory: what was pushed, and a line for each thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include "bench/lab/scale/cache_lines.h"
#include "engine/base/atom.h"
#include "engine/base/zeroed_memory.h"
#include "engine/lockfree/active/active_entry.h"

namespace schedq::scale {

// Memory of cells that begins on a line, wherever the allocator has room: so the same cells share a
// line in each run.
template <typename T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() = default;
  template <typename U>
  explicit LineAllocator(const LineAllocator<U>&) {}

  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kCacheLineBytes)));
  }
  void deallocate(T* memory, size_t) {
    ::operator delete(memory, std::align_val_t(kCacheLineBytes));
  }
  bool operator==(const LineAllocator&) const = default;
};
template <typename T>
using LineVector = std::vector<T, LineAllocator<T>>;

// A mutex of three states, as the C library's: free, held, held with sleepers. A thread that does
// not get it sleeps, and the holder goes on with warm lines until it wakes.
// Source: U. Drepper, Futexes Are Tricky, 2011.
template <template <typename> class Atom>
class FutexLock {
 public:
  void lock() {
    uint32_t seen = kFree;
    if (state_.compare_exchange_strong(seen, kHeld)) return;
    while (state_.exchange(kHeldWithSleepers) != kFree) {
      Seam<Atom>::Wait(state_, kHeldWithSleepers, std::nullopt);
    }
  }
  void unlock() {
    if (state_.exchange(kFree) == kHeldWithSleepers) Seam<Atom>::WakeOne(state_);
  }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kHeldWithSleepers = 2;

  alignas(kCacheLineBytes) Atom<uint32_t> state_{kFree};
};

// A binary heap of entries that go first. One thread at a time.
template <template <typename> class Atom>
class BinaryHeap {
 public:
  explicit BinaryHeap(size_t entries_max) : entries_(entries_max) {}

  void Push(const ActiveEntry& entry) {
    size_t at = size_++;
    for (; at > 0; at = (at - 1) / 2) {
      const ActiveEntry above = entries_[(at - 1) / 2].Read();
      if (!GoesBefore(entry, above)) break;
      entries_[at].Write(above);
    }
    entries_[at].Write(entry);
  }
  std::optional<ActiveEntry> TryPop() {
    if (size_ == 0) return std::nullopt;
    const ActiveEntry first = entries_[0].Read();
    const ActiveEntry last = entries_[--size_].Read();
    size_t at = 0;
    for (;;) {
      size_t below = 2 * at + 1;
      if (below >= size_) break;
      ActiveEntry next = entries_[below].Read();
      if (below + 1 < size_) {
        const ActiveEntry other = entries_[below + 1].Read();
        if (GoesBefore(other, next)) {
          next = other;
          ++below;
        }
      }
      if (!GoesBefore(next, last)) break;
      entries_[at].Write(next);
      at = below;
    }
    entries_[at].Write(last);
    return first;
  }

 private:
  using Entry = typename Seam<Atom>::template Plain<ActiveEntry>;

  LineVector<Entry> entries_;
  size_t size_ = 0;
};

template <template <typename> class Atom>
class LockedHeap {
 public:
  explicit LockedHeap(size_t entries_max) : heap_(entries_max) {}

  void Push(const ActiveEntry& entry) {
    lock_.lock();
    heap_.Push(entry);
    lock_.unlock();
  }
  std::optional<ActiveEntry> TryPop() {
    lock_.lock();
    const std::optional<ActiveEntry> popped = heap_.TryPop();
    lock_.unlock();
    return popped;
  }

 private:
  FutexLock<Atom> lock_;
  BinaryHeap<Atom> heap_;
};

// Flat combining: a thread writes what it wants into a line of its own; the thread that gets the
// lock does what all of them want, while the heap's lines stay with it.
// Source: D. Hendler, I. Incze, N. Shavit and M. Tzafrir, Flat Combining, 2010; without the list's
// ageing.
template <template <typename> class Atom>
class CombiningHeap {
 public:
  explicit CombiningHeap(size_t entries_max) : heap_(entries_max) {}

  void Push(const ActiveEntry& entry) { Ask(kPush, entry); }
  std::optional<ActiveEntry> TryPop() {
    const Request& request = Ask(kPop, {});
    return request.is_empty.Read() ? std::nullopt : std::optional(request.entry.Read());
  }

 private:
  static constexpr uint32_t kDone = 0;
  static constexpr uint32_t kPush = 1;
  static constexpr uint32_t kPop = 2;

  template <typename T>
  using Plain = typename Seam<Atom>::template Plain<T>;

  struct alignas(kCacheLineBytes) Request {
    // Release by both sides pairs with the other's acquire: the entry belongs to the state.
    Atom<uint32_t> state{kDone};
    Plain<bool> is_empty{false};
    Plain<ActiveEntry> entry;
  };

  const Request& Ask(uint32_t what, const ActiveEntry& entry) {
    // Virtual threads and a team's real ones have small numbers.
    const uint32_t thread = Seam<Atom>::ThreadIndex() % kVirtualThreadsMax;
    Request& own = requests_[thread];
    own.entry.Write(entry);
    StoreRelease(own.state, what);
    uint32_t asked = LoadRelaxed(asked_);
    while (asked <= thread && !asked_.compare_exchange_weak(asked, thread + 1)) {
    }
    while (LoadAcquire(own.state) != kDone) {
      if (LoadRelaxed(lock_) == 0 && lock_.exchange(1) == 0) {
        Combine();
        StoreRelease(lock_, uint32_t{0});
      } else {
        Seam<Atom>::Pause();
      }
    }
    return own;
  }

  void Combine() {
    const uint32_t asked = asked_.load();
    for (uint32_t thread = 0; thread < asked; ++thread) {
      Request& request = requests_[thread];
      const uint32_t what = LoadAcquire(request.state);
      if (what == kDone) continue;
      if (what == kPush) {
        heap_.Push(request.entry.Read());
      } else {
        const std::optional<ActiveEntry> popped = heap_.TryPop();
        request.is_empty.Write(!popped);
        if (popped) request.entry.Write(*popped);
      }
      StoreRelease(request.state, kDone);
    }
  }

  alignas(kCacheLineBytes) Atom<uint32_t> lock_{0};
  alignas(kCacheLineBytes) Atom<uint32_t> asked_{0};  // Above each thread that ever asked.
  std::array<Request, kVirtualThreadsMax> requests_;
  BinaryHeap<Atom> heap_;
};

// The shared lines of an engine behind one lock, such as classic: the lock, a heap, and for each
// pod a place in a map and an entity of two lines. What it computes while it holds the lock is not
// rendered; the prediction takes it from the measurement.
template <template <typename> class Atom>
class LockedEngine {
 public:
  explicit LockedEngine(size_t pods) : heap_(pods), places_(pods), entities_(pods) {}

  void Add(const ActiveEntry& entry) {
    lock_.lock();
    places_[entry.ticket].Write(1);
    entities_[entry.ticket].Write({});
    heap_.Push(entry);
    lock_.unlock();
  }
  std::optional<ActiveEntry> TryPop() {
    lock_.lock();
    const std::optional<ActiveEntry> popped = heap_.TryPop();
    if (popped) entities_[popped->ticket].Write({});
    lock_.unlock();
    return popped;
  }
  // The attempt ends: the entity is looked up, and changed or dropped.
  void End(uint64_t pod) {
    lock_.lock();
    places_[pod].Write(0);
    entities_[pod].Write({});
    lock_.unlock();
  }
  // A pod that was popped comes back: End and Add under one lock.
  void Return(const ActiveEntry& entry) {
    lock_.lock();
    places_[entry.ticket].Read();
    entities_[entry.ticket].Write({});
    heap_.Push(entry);
    lock_.unlock();
  }

 private:
  struct Entity {
    std::array<uint64_t, 2 * kCacheLineBytes / sizeof(uint64_t)> words{};
  };
  template <typename T>
  using Plain = typename Seam<Atom>::template Plain<T>;

  FutexLock<Atom> lock_;
  BinaryHeap<Atom> heap_;
  LineVector<Plain<uint64_t>> places_;
  LineVector<Plain<Entity>> entities_;
};

}  // namespace schedq::scale
