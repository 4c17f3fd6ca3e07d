// The parts of the quick heap: front, bucket, directory, root. Each is filled by one thread before
// the root reaches it, and given back through an EraPool, so no thread meets a part in its next
// life.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "engine/base/atom.h"
#include "engine/base/result.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/memory/era_pool.h"

namespace schedq {

// Up to kMax entries on the stack, while the heap is being restructured.
template <uint32_t kMax>
class HeapScratch {
 public:
  // Entries are written before they are read: to clear 24 KB would cost more than all else.
  HeapScratch() {}  // NOLINT(modernize-use-equals-default)

  uint32_t size() const { return size_; }
  const ActiveEntry& operator[](uint32_t index) const { return entries_[index]; }
  void Add(const ActiveEntry& entry) {
    SCHEDQ_CHECK(size_ < kMax, "a part of the heap holds more than it may");
    entries_[size_++] = entry;
  }
  // Drops those behind the first `kept` of which is_stale(ticket) says so.
  template <typename IsStale>
  void DropStaleFrom(uint32_t kept, const IsStale& is_stale) {
    for (uint32_t i = kept; i < size_; ++i) {
      if (!is_stale(entries_[i].ticket)) entries_[kept++] = entries_[i];
    }
    size_ = kept;
  }
  void Sort() {
    ActiveEntry* end = entries_.data() + size_;
    if (!std::is_sorted(entries_.data(), end, GoesBefore)) {
      std::sort(entries_.data(), end, GoesBefore);
    }
  }
  // The same as Sort for a caller that asks only what goes before the entry at `middle`, and what
  // that is.
  void Divide(uint32_t middle) {
    ActiveEntry* begin = entries_.data();
    std::nth_element(begin, begin + middle, begin + size_, GoesBefore);
  }

 private:
  // GCC 12 believes that std::sort touches 17 entries of any array, and warns.
  static constexpr uint32_t kCapacity = std::max<uint32_t>(kMax, 17);

  uint32_t size_ = 0;
  union {
    std::array<ActiveEntry, kCapacity> entries_;
  };
};

// The entries that go first: a sorted array, and a bag of a few that came later. One word decides
// what is still there, so a pop's exchange on it is exact.
template <template <typename> class Atom, uint32_t kSorted, uint32_t kBag>
class HeapFront : public EraElement<Atom> {
 public:
  enum class PushOutcome { kPushed, kFull, kFrozen };

  // The word, from bit 0: frozen (nothing changes any more), which bag slots hold an entry, how
  // many of the sorted array were taken, and a count of changes, which keeps a slot's second entry
  // from being taken for its first; it wraps after 2^40 changes.
  static constexpr uint64_t kFrozen = 1;
  static uint64_t BagIn(uint64_t word) { return word >> 1 & ((uint64_t{1} << kBagBits) - 1); }
  static uint32_t TakenIn(uint64_t word) { return word >> kTakenShift & kTakenMask; }
  static uint64_t ChangesIn(uint64_t word) { return word >> kChangesShift; }

  const Atom<uint64_t>& word() const { return word_; }
  bool IsDrained(uint64_t word) const {
    return BagIn(word) == 0 && TakenIn(word) == sorted_count_.Read();
  }
  uint32_t Size(uint64_t word) const {
    return static_cast<uint32_t>(std::popcount(BagIn(word))) + sorted_count_.Read() - TakenIn(word);
  }

  // Fills a front that only the caller knows. `end` is exclusive.
  template <typename Scratch>
  void Fill(const Scratch& scratch, uint32_t end) {
    for (uint32_t i = 0; i < end; ++i) sorted_[i].Write(scratch[i]);
    sorted_count_.Write(end);
    for (BagSlot& slot : bag_) StoreRelaxed(slot.is_owned, uint32_t{0});
    // Relaxed: published with the root.
    StoreRelaxed(word_, (ChangesIn(LoadRelaxed(word_)) + 1) << kChangesShift);
  }

  // Linearization point: the exchange of the word.
  PushOutcome Push(const ActiveEntry& entry) {
    const uint32_t index = OwnBagSlot();
    if (index == kBag) return PushOutcome::kFull;
    bag_[index].Write(entry);
    uint64_t word = word_.load();
    // Each failed exchange means that another operation on this front succeeded.
    while ((word & kFrozen) == 0) {
      if (word_.compare_exchange_weak(word, (word | uint64_t{2} << index) + kOneChange)) {
        return PushOutcome::kPushed;
      }
    }
    return PushOutcome::kFrozen;
  }

  // Which entry goes first, by a word that is not drained; right if the word is still the same.
  struct First {
    ActiveEntry entry;
    uint32_t bag_slot = kBag;  // kBag: from the sorted array.
  };
  First FirstAt(uint64_t word) const {
    First first;
    bool is_any = TakenIn(word) < sorted_count_.Read();
    if (is_any) first.entry = sorted_[TakenIn(word)].Read();
    for (uint64_t bag = BagIn(word); bag != 0; bag &= bag - 1) {
      const auto index = static_cast<uint32_t>(std::countr_zero(bag));
      const ActiveEntry entry = bag_[index].Read();
      if (is_any && !GoesBefore(entry, first.entry)) continue;
      first = {entry, index};
      is_any = true;
    }
    return first;
  }

  // Takes what FirstAt(word) said; false if the word has changed.
  bool TryTake(uint64_t word, const First& first) {
    const bool is_from_bag = first.bag_slot != kBag;
    const uint64_t less =
        is_from_bag ? word & ~(uint64_t{2} << first.bag_slot) : word + (uint64_t{1} << kTakenShift);
    if (!word_.compare_exchange_strong(word, less + kOneChange)) return false;
    if (is_from_bag) bag_[first.bag_slot].GiveBack();
    return true;
  }

  // After this the word and all that it covers stay as they are. Returns the word.
  uint64_t Freeze() { return word_.fetch_or(kFrozen) | kFrozen; }

  // All that a frozen front holds, in order.
  template <typename Scratch>
  void CollectInto(uint64_t word, Scratch& scratch) const {
    HeapScratch<kBag> bag;
    for (uint64_t bits = BagIn(word); bits != 0; bits &= bits - 1) {
      bag.Add(bag_[static_cast<uint32_t>(std::countr_zero(bits))].Read());
    }
    bag.Sort();
    uint32_t from_bag = 0;
    for (uint32_t i = TakenIn(word); i < sorted_count_.Read(); ++i) {
      const ActiveEntry& sorted = sorted_[i].Read();
      while (from_bag < bag.size() && GoesBefore(bag[from_bag], sorted)) {
        scratch.Add(bag[from_bag++]);
      }
      scratch.Add(sorted);
    }
    while (from_bag < bag.size()) scratch.Add(bag[from_bag++]);
  }

 private:
  template <typename T>
  using Plain = typename Seam<Atom>::template Plain<T>;

  static constexpr uint32_t kBagBits = 12;
  static_assert(kBag <= kBagBits, "the word has a bit for each slot of the bag");
  static constexpr uint32_t kTakenShift = 1 + kBagBits;
  static constexpr uint32_t kTakenMask = (1 << 11) - 1;
  static constexpr uint32_t kChangesShift = kTakenShift + 11;
  static constexpr uint64_t kOneChange = uint64_t{1} << kChangesShift;
  static_assert(kSorted <= kTakenMask, "the word counts what was taken");

  struct BagSlot {
    // Set by a push that takes the slot, dropped by the pop that took the slot's entry.
    Atom<uint32_t> is_owned{0};
    // Written by the owner before the word says that the slot holds an entry. A pop with an old
    // word may read them while they are being written; the word has changed by then. For a reader
    // that asks for that by a load they are acquired and released: without that pair it could see
    // the next entry and yet the old word.
    Atom<int32_t> priority{0};
    Atom<int64_t> timestamp_ns{0};
    Atom<uint64_t> ticket{0};
    // Of the push that writes the entry, and of the pop that has taken it.
    [[no_unique_address]] typename Seam<Atom>::Footprint owners_use;

    void Write(const ActiveEntry& entry) {
      owners_use.Write();
      StoreRelease(priority, entry.priority);
      StoreRelease(timestamp_ns, entry.timestamp_ns);
      StoreRelease(ticket, entry.ticket);
    }
    ActiveEntry Read() const {
      return {LoadAcquire(priority), LoadAcquire(timestamp_ns), LoadAcquire(ticket)};
    }
    // Acquire and release pair with each other: without them the next owner's writes could come
    // before the last reads of the entry that was there.
    bool TryOwn() {
      uint32_t free = 0;
      return LoadRelaxed(is_owned) == 0 &&
             is_owned.compare_exchange_strong(free, 1, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    void GiveBack() {
      owners_use.Read();
      StoreRelease(is_owned, uint32_t{0});
    }
  };

  // A slot that this thread now owns, or kBag if all have owners.
  uint32_t OwnBagSlot() {
    for (uint32_t i = 0; i < kBag; ++i) {
      if (bag_[i].TryOwn()) return i;
    }
    return kBag;
  }

  Atom<uint64_t> word_{0};
  Plain<uint32_t> sorted_count_{0};
  std::array<BagSlot, kBag> bag_;
  std::array<Plain<ActiveEntry>, kSorted> sorted_;
};

// Entries of one range of keys, in no order. It only grows, until it is frozen.
template <template <typename> class Atom, uint32_t kEntries>
class HeapBucket : public EraElement<Atom> {
 public:
  // Linearization point of success: the exchange of the slot's state. False: full or frozen.
  bool TryPush(const ActiveEntry& entry) {
    // Relaxed: the count alone makes the slot this thread's; the exchange below publishes it.
    const uint64_t index = count_.fetch_add(1, std::memory_order_relaxed);
    if (index >= kEntries) return false;
    Slot& slot = slots_[index];
    // For a later push: the exchange waits until the slot's line has come.
    __builtin_prefetch(&slot + kPrefetchAhead, /*for a write*/ 1);
    slot.entry.Write(entry);
    uint32_t empty = kEmpty;
    return slot.state.compare_exchange_strong(empty, kReady);
  }

  bool IsFull() const { return LoadRelaxed(count_) >= kEntries; }
  uint64_t Size() const { return std::min<uint64_t>(LoadRelaxed(count_), kEntries); }

  // Empties a bucket that only the caller knows.
  void Clear() {
    // Slots past the count were never touched. Relaxed: published with the root.
    for (uint64_t i = 0; i < UsedSlots(); ++i) StoreRelaxed(slots_[i].state, kEmpty);
    StoreRelaxed(count_, uint64_t{0});
  }
  // Adds to a bucket that only the caller knows.
  void Fill(uint32_t index, const ActiveEntry& entry) {
    slots_[index].entry.Write(entry);
    StoreRelaxed(slots_[index].state, kReady);
    StoreRelaxed(count_, uint64_t{index} + 1);
  }

  // Stops all pushes that have not come to their linearization point, and collects the others. Any
  // number of threads may do this, and all collect the same.
  template <typename Scratch>
  void FreezeInto(Scratch& scratch) {
    const uint64_t used = FreezeCount();
    for (uint64_t i = 0; i < used; ++i) {
      if (FreezeSlot(slots_[i])) scratch.Add(slots_[i].entry.Read());
    }
  }

 private:
  static constexpr uint32_t kEmpty = 0;
  static constexpr uint32_t kReady = 1;
  static constexpr uint32_t kDead = 2;
  static constexpr uint64_t kFrozenCount = uint64_t{1} << 62;
  static constexpr uint64_t kPrefetchAhead = 4;

  struct Slot {
    // Set by the push that has the slot, or by a thread that freezes the bucket.
    Atom<uint32_t> state{kEmpty};
    typename Seam<Atom>::template Plain<ActiveEntry> entry;
  };

  // Whether it holds an entry; if not, it never will.
  static bool FreezeSlot(Slot& slot) {
    // Acquire pairs with the exchange in TryPush: without it the entry could be read before it was
    // written. A slot that is found empty here may be ready by now, which the exchange finds out.
    uint32_t state = LoadAcquire(slot.state);
    if (state == kEmpty) slot.state.compare_exchange_strong(state, kDead);
    return state == kReady;
  }

  // How many slots were handed out, and no more are. Relaxed: a thread that comes later finds the
  // same or more, of which the further ones are empty, and each slot's state says what is in it.
  uint64_t FreezeCount() {
    const uint64_t before = count_.fetch_or(kFrozenCount, std::memory_order_relaxed);
    return std::min<uint64_t>(before & ~kFrozenCount, kEntries);
  }
  uint64_t UsedSlots() const {
    return std::min<uint64_t>(LoadRelaxed(count_) & ~kFrozenCount, kEntries);
  }

  // Slots handed out, and more once it is full; a high bit says frozen, which reads as full.
  Atom<uint64_t> count_{0};
  std::array<Slot, kEntries> slots_;
};

// A key as two words: smaller goes first.
struct HeapRank {
  uint64_t high = 0;
  uint64_t low = 0;

  static HeapRank Of(const ActiveEntry& entry) {
    return {~(static_cast<uint64_t>(int64_t{entry.priority}) ^ kSign),
            static_cast<uint64_t>(entry.timestamp_ns) ^ kSign};
  }
  bool IsAtMost(const HeapRank& other) const {
    return (high < other.high) | ((high == other.high) & (low <= other.low));
  }

 private:
  static constexpr uint64_t kSign = uint64_t{1} << 63;
};

// The buckets in the order of their ranges. A bucket's range starts at its bound and ends at the
// next one's; before the first bound is the front.
// Memory: room for as many ranges as it ever needed and up to twice as many, until the heap's end.
// An owner that makes more room is the only thread that may look, so the old room goes at once.
template <template <typename> class Atom, uint32_t kRangesMin>
class HeapDirectory : public EraElement<Atom> {
 public:
  struct Range {
    HeapRank bound;
    uint32_t bucket = 0;
  };

  uint32_t count() const { return count_.Read(); }
  uint32_t BucketAt(uint32_t index) const { return RangeAt(index).bucket; }
  const HeapRank& BoundAt(uint32_t index) const { return RangeAt(index).bound; }

  // How many bounds are at most `rank`: 0 means the front, else it is bucket number - 1. Without
  // branches it is slower: the processor would wait for each bound before it reads the next.
  uint32_t CountUpTo(const HeapRank& rank) const {
    const Plain<Range>* const ranges = ranges_.Read();
    uint32_t first = 0;
    uint32_t length = count();
    while (length > 0) {
      const uint32_t half = (length + 1) / 2;
      first += ranges[first + half - 1].Read().bound.IsAtMost(rank) ? half : 0;
      length -= half;
    }
    return first;
  }

  // Empties a directory that only the caller knows, and gives it room for `count` ranges.
  void ClearFor(uint32_t count) {
    count_.Write(0);
    if (count <= room_.Read()) return;
    const uint32_t room = std::max(kRangesMin, std::bit_ceil(count));
    FreeRanges();
    ranges_.Write(new Plain<Range>[room]);
    room_.Write(room);
  }
  void Add(const HeapRank& bound, uint32_t bucket) {
    SCHEDQ_CHECK(count() < room_.Read(), "a directory was given room for its ranges");
    ranges_.Read()[count()].Write({bound, bucket});
    count_.Write(count() + 1);
  }
  void AddRange(const HeapDirectory& from, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) Add(from.BoundAt(i), from.BucketAt(i));
  }

  // By the only thread that may look. Elements of an EraPool have no destructor.
  void FreeRanges() { delete[] ranges_.Read(); }

 private:
  template <typename T>
  using Plain = typename Seam<Atom>::template Plain<T>;

  const Range& RangeAt(uint32_t index) const { return ranges_.Read()[index].Read(); }

  Plain<uint32_t> count_{0};
  Plain<uint32_t> room_{0};
  Plain<Plain<Range>*> ranges_{nullptr};
};

// What the root word names.
template <template <typename> class Atom>
class HeapRoot : public EraElement<Atom> {
 public:
  void Set(uint32_t front, uint32_t directory) {
    front_.Write(front);
    directory_.Write(directory);
  }
  uint32_t front() const { return front_.Read(); }
  uint32_t directory() const { return directory_.Read(); }

 private:
  template <typename T>
  using Plain = typename Seam<Atom>::template Plain<T>;
  Plain<uint32_t> front_{0};
  Plain<uint32_t> directory_{0};
};

}  // namespace schedq
