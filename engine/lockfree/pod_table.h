// Every pod's slot: where it is, and which record says the rest.
//
// Purpose: the one place that decides what a pod is. Each move of a pod is one exchange of its
// slot's word; whoever wins it publishes what follows from it (a ticket, a mark in an index).
// Threads: all operations from any thread, lock-free.
// Invariants:
//  1. The slot's number is the pod's PodId. A slot with a record holds one reference to the name.
//  2. The version grows whenever a ticket that was published for the pod must no longer count:
//     when it changes its place, or its key where it is.
//  3. A word never comes back while somebody has pinned its record: an exchange on a pinned word
//     therefore succeeds only if nothing changed.
// Memory: 8 bytes a slot, for the largest PodId that was ever seen, and the records.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/base/segmented_array.h"
#include "engine/lockfree/pod_record.h"
#include "engine/place.h"

namespace schedq {

// A slot's word, taken apart.
struct SlotWord {
  static constexpr uint32_t kRecordBits = 28;
  static constexpr uint32_t kPlaceBits = 3;

  uint32_t record = kNoRecord;
  Place queued = Place::kAbsent;  // A place of a queue, or kAbsent. In flight is in the record.
  bool live = false;
  uint32_t version = 0;

  static SlotWord From(uint64_t bits) {
    return {.record = static_cast<uint32_t>(bits & ((1u << kRecordBits) - 1)),
            .queued = static_cast<Place>(bits >> kRecordBits & ((1u << kPlaceBits) - 1)),
            .live = (bits >> (kRecordBits + kPlaceBits) & 1) != 0,
            .version = static_cast<uint32_t>(bits >> 32)};
  }
  uint64_t Bits() const {
    return uint64_t{record} | uint64_t{static_cast<uint8_t>(queued)} << kRecordBits |
           uint64_t{live} << (kRecordBits + kPlaceBits) | uint64_t{version} << 32;
  }
};
static_assert(kPlaceCount <= 1 << SlotWord::kPlaceBits, "a place fits into the word");

template <template <typename> class Atom>
class PodTable {
 public:
  // A slot's state with its record pinned. Empty: the slot has no record.
  class Pinned {
   public:
    Pinned() = default;
    Pinned(const PodTable* table, SlotWord word) : table_(table), word_(word) {}
    Pinned(Pinned&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), word_(other.word_) {}
    Pinned& operator=(Pinned&& other) noexcept {
      std::swap(table_, other.table_);
      std::swap(word_, other.word_);
      return *this;
    }
    ~Pinned() {
      if (table_ != nullptr) table_->records_.Release(word_.record);
    }

    explicit operator bool() const { return word_.record != kNoRecord; }
    const SlotWord& word() const { return word_; }
    const PodFacts& facts() const { return table_->records_.At(word_.record); }
    bool IsInFlight() const { return facts().flight.IsSet(); }
    // As the outside sees it.
    Place Shown() const {
      if (word_.queued != Place::kAbsent) return word_.queued;
      return IsInFlight() || facts().older != kNoRecord ? Place::kInFlight : Place::kAbsent;
    }

   private:
    const PodTable* table_ = nullptr;
    SlotWord word_;
  };

  explicit PodTable(uint32_t first_bits = 10) : slots_(first_bits), records_(first_bits) {}
  PodTable(const PodTable&) = delete;
  PodTable& operator=(const PodTable&) = delete;
  ~PodTable() {
    for (uint32_t id = 0; id < limit(); ++id) records_.Release(LoadWord(id).record);
  }

  PodRecordPool<Atom>& records() { return records_; }
  const PodRecordPool<Atom>& records() const { return records_; }

  // Slots below this may be read. Grows only. Sequentially consistent, as Ensure is: a thread that
  // raises it and then finds no event, and an event that then looks at all slots, must not miss
  // each other.
  uint32_t limit() const { return limit_.load(); }

  // Makes the slot of `id` usable.
  void Ensure(PodId id) {
    if (id < limit()) return;
    slots_.ReserveThrough(id);
    uint32_t seen = limit();
    // Who sees a slot below it may touch its segment. A retry means that another thread raised it.
    while (seen <= id && !limit_.compare_exchange_weak(seen, id + 1)) {
    }
  }

  // A retry means that the word changed between its two reads.
  Pinned Pin(PodId id) const {
    if (id >= limit()) return {};
    SlotWord word = LoadWord(id);
    for (;;) {
      if (word.record == kNoRecord) return {nullptr, word};
      const bool is_retained = records_.TryRetain(word.record);
      const SlotWord again = LoadWord(id);
      if (is_retained && again.Bits() == word.Bits()) return {this, word};
      if (is_retained) records_.Release(word.record);
      word = again;
    }
  }

  // The slot's word, without its record: a hint that may be stale at once.
  SlotWord Peek(PodId id) const { return LoadWord(id); }

  // Exchanges the pinned word for `next`. If `next` names another record, its reference passes to
  // the slot on success, and is dropped on failure.
  // Sequentially consistent: a pod that entered the pool must be seen by every event that was
  // logged after the pod last read the log, and the other way round (event_log.h).
  bool Exchange(PodId id, const Pinned& pinned, const SlotWord& next) {
    uint64_t expected = pinned.word().Bits();
    const bool is_done = slots_[id].compare_exchange_strong(expected, next.Bits());
    if (next.record == pinned.word().record) return is_done;
    records_.Release(is_done ? pinned.word().record : next.record);
    return is_done;
  }

 private:
  SlotWord LoadWord(PodId id) const { return SlotWord::From(slots_[id].load()); }

  // Written by whoever wins a move of the pod.
  SegmentedArray<Atom<uint64_t>, Atom> slots_;
  // Raised by Ensure; a stale reader sees fewer slots.
  Atom<uint32_t> limit_{0};
  // Pinning a record counts a reference to it, and changes nothing else.
  mutable PodRecordPool<Atom> records_;
};

}  // namespace schedq
