// Gives memory back to its pool only when no thread may still look at it.
//
// Purpose: a structure is reached from one root word whose tag (the era) grows with each change of
// the root. A thread announces the era in which it works; an element that the root no longer
// reaches is used again when no announced era lies in the time in which it was reachable.
// When not to use it: where a late reader's exchange fails anyway; then IndexPool is enough.
// Its two parts, EraTable and RetiredList, also serve records that many roots name (pod_record.h).
// Threads: all operations from any thread, lock-free. A thread has one announcement at a time.
// Invariants:
//  1. A thread touches elements only after Announce(era), followed by a look at the root that still
//     shows this era, and until Withdraw. So all that it reaches was reachable in that era.
//  2. An element is reachable from its birth (the era that first reached it) until the era before
//     its retirement. It is not freed while an announced era lies in between. For the announcement
//     and the look at the root are seq_cst, and so are the root's change and the look at the
//     announcements: if the look at the root came before the change, the announcement is seen.
// Memory: a stalled thread holds what was reachable in its era, so at most as much as the structure
// held at that time, and never more however long it stalls. An announcement takes a cache line.
// Source: P. Ramalhete and A. Correia, Hazard Eras, 2017.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/base/atom.h"
#include "engine/base/index_pool.h"
#include "engine/base/segmented_array.h"

namespace schedq {

template <template <typename> class Atom>
class EraTable {
 public:
  explicit EraTable(uint32_t first_bits = 3) : cells_(first_bits) {}

  struct alignas(64) Cell {
    // Written by the thread of this number; read by threads that free. 0: not at work.
    Atom<uint64_t> era_plus_one{0};
  };

  void Announce(uint64_t era) {
    Prepare();
    AnnouncePrepared(era);
  }

  // Makes the cell of the thread's announcements. Where there is no memory it throws, and the
  // thread has nothing to withdraw.
  Cell& Prepare() {
    const uint32_t thread = Seam<Atom>::ThreadIndex();
    // Sequentially consistent, where another thread has raised it: a thread that frees and sees it
    // as it was before does so before this announcement, in the order of invariant 2.
    if (thread >= threads_.load()) MakeCell(thread);
    return cells_[thread];
  }
  // After Prepare.
  void AnnouncePrepared(uint64_t era) {
    cells_[Seam<Atom>::ThreadIndex()].era_plus_one.store(era + 1);
  }

  void Withdraw() { Withdraw(cells_[Seam<Atom>::ThreadIndex()]); }
  // Release pairs with the scan's load: without it, what this thread still read could be
  // overwritten by the element's next owner.
  static void Withdraw(Cell& cell) { StoreRelease(cell.era_plus_one, uint64_t{0}); }

  // Whether a thread works in an era from `birth` on and before `retirement`.
  bool IsAnyBetween(uint64_t birth, uint64_t retirement) const {
    return IsAny([&](uint64_t era) { return era >= birth && era < retirement; });
  }
  // Whether a thread works in an era for which `holds(era)` is true.
  template <typename Holds>
  bool IsAny(Holds holds) const {
    const uint32_t threads = threads_.load();
    for (uint32_t thread = 0; thread < threads; ++thread) {
      const uint64_t era_plus_one = cells_[thread].era_plus_one.load();
      if (era_plus_one != 0 && holds(era_plus_one - 1)) return true;
    }
    return false;
  }

 private:
  // And those of all smaller numbers, which a scan looks at.
  [[gnu::noinline, gnu::cold]] void MakeCell(uint32_t thread) {
    cells_.ReserveThrough(thread);
    uint32_t threads = threads_.load();
    // Each failed exchange means that another new thread raised it.
    while (threads <= thread && !threads_.compare_exchange_weak(threads, thread + 1)) {
    }
  }

  // Raised by a thread's first announcement; read by threads that free.
  Atom<uint32_t> threads_{0};
  SegmentedArray<Cell, Atom> cells_;
};

// Elements of a pool that wait until no thread may look at them, chained by a word of theirs.
//
// Threads: all operations from any thread, lock-free. `link_of(index)` gives the element's word,
// whose low half is the chain's while the element is here; the high half is the owner's.
template <template <typename> class Atom>
class RetiredList {
 public:
  explicit RetiredList(uint32_t sweep_at_least)
      : sweep_at_least_(sweep_at_least), sweep_at_(sweep_at_least) {}

  // Release pairs with the acquire of Sweep, which reads the links and what the owner wrote.
  template <typename LinkOf>
  void Push(uint32_t index, uint32_t note, LinkOf link_of) {
    count_.fetch_add(1, std::memory_order_relaxed);
    uint64_t top = LoadRelaxed(top_);
    // An exchange fails only where another thread's succeeded. A list that was taken away and has
    // the same top again is as good as the one that was read.
    do {
      StoreRelaxed(link_of(index), uint64_t{note} << 32 | top);
    } while (!top_.compare_exchange_weak(top, uint64_t{index} + 1, std::memory_order_release,
                                         std::memory_order_relaxed));
  }

  // Whether there are enough that a sweep is worth it: twice as many as were held back last time,
  // so that a stalled thread does not make each sweep look at all that it holds. A hint.
  bool IsSweepDue() const { return LoadRelaxed(count_) >= LoadRelaxed(sweep_at_); }

  // Calls `free(index)` for each element here, but for those that `is_held(index, note)`.
  template <typename LinkOf, typename IsHeld, typename Free>
  void Sweep(LinkOf link_of, IsHeld is_held, Free free) {
    uint64_t top = top_.exchange(0, std::memory_order_acquire);
    uint32_t held = 0;
    while (top != 0) {
      const auto index = static_cast<uint32_t>(top - 1);
      const uint64_t link = LoadRelaxed(link_of(index));
      const auto note = static_cast<uint32_t>(link >> 32);
      top = link & kIndexMask;
      count_.fetch_sub(1, std::memory_order_relaxed);
      if (is_held(index, note)) {
        Push(index, note, link_of);
        ++held;
      } else {
        free(index);
      }
    }
    StoreRelaxed(sweep_at_, 2 * held + sweep_at_least_);
  }

 private:
  static constexpr uint64_t kIndexMask = 0xffffffff;

  const uint32_t sweep_at_least_;
  // An index plus one; 0: none. Written by threads that retire and that sweep.
  Atom<uint64_t> top_{0};
  // Hints of when a sweep is worth it; relaxed.
  Atom<uint32_t> count_{0};
  Atom<uint32_t> sweep_at_;
};

// What an element of an EraPool carries.
template <template <typename> class Atom>
class EraElement {
 public:
  Atom<uint64_t>& FreeLink() { return link_; }

 private:
  template <typename Element, template <typename> class A>
  friend class EraPool;
  template <typename T>
  using Plain = typename Seam<Atom>::template Plain<T>;

  // Written by a thread that frees or retires the element; chains what is free, or what is retired.
  Atom<uint64_t> link_{0};
  Plain<uint64_t> birth_{0};
  Plain<uint64_t> retirement_{0};
};

template <typename Element, template <typename> class Atom>
class EraPool {
 public:
  using Pool = IndexPool<Element, Atom>;

  EraPool(const EraTable<Atom>& eras, uint32_t first_bits, uint32_t limit = Pool::kNone)
      : eras_(eras), pool_(first_bits, limit) {}

  Element& operator[](uint32_t index) const { return pool_[index]; }

  // An element that only the caller owns, to be reachable from era `birth` on.
  uint32_t Allocate(uint64_t birth) {
    if (retired_.IsSweepDue()) FreeRetired();
    return BornAt(pool_.Allocate(), birth);
  }
  // The same, or kNone: as many as the limit are in use, or held back by threads that may look.
  uint32_t TryAllocate(uint64_t birth) {
    if (retired_.IsSweepDue()) FreeRetired();
    uint32_t index = pool_.TryAllocate();
    if (index == Pool::kNone) [[unlikely]] {
      FreeRetired();
      index = pool_.TryAllocate();
    }
    return index == Pool::kNone ? index : BornAt(index, birth);
  }

  // Gives back an element that was never reachable.
  void Discard(uint32_t index) { pool_.Free(index); }

  // An element that the root reached up to the era before `retirement`.
  void Retire(uint32_t index, uint64_t retirement) {
    pool_[index].retirement_.Write(retirement);
    retired_.Push(index, 0, Link());
  }

  // By the thread that destroys the owner: each element that there ever was.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (uint32_t index = 0; index < pool_.Used(); ++index) visit(pool_[index]);
  }

 private:
  static constexpr uint32_t kSweepAtLeast = 2;

  uint32_t BornAt(uint32_t index, uint64_t birth) {
    pool_[index].birth_.Write(birth);
    return index;
  }

  auto Link() const {
    return [this](uint32_t index) -> Atom<uint64_t>& { return pool_[index].link_; };
  }

  void FreeRetired() {
    const auto is_held = [this](uint32_t index, uint32_t) {
      const Element& element = pool_[index];
      return eras_.IsAnyBetween(element.birth_.Read(), element.retirement_.Read());
    };
    retired_.Sweep(Link(), is_held, [this](uint32_t index) { pool_.Free(index); });
  }

  const EraTable<Atom>& eras_;
  Pool pool_;
  RetiredList<Atom> retired_{kSweepAtLeast};
};

}  // namespace schedq
