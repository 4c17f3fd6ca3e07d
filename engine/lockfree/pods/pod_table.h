// Every pod's slot: where it is, and which record says the rest.
//
// Purpose: the one place that decides what a pod is. Each move of a pod is one exchange of its
// slot's word; the thread that wins it publishes what follows from it (a ticket, a mark in an
// index).
// Threads: all operations from any thread, lock-free.
// Invariants:
//  1. The slot's number is the pod's PodId. A slot with a record holds one reference to the name.
//  2. A ticket counts while the slot has its version and its place. The version is the record's: it
//     grows with each record that is queued anew, so that tickets of earlier stays never count. A
//     record moves only forwards, from the pool to backoff to active to an attempt, and so is in
//     each place once. A slot without a record keeps the last version.
//  3. A word never comes back while a thread has pinned its record, nor does its place: an exchange
//     on a pinned word therefore succeeds only if nothing changed.
//  4. While an attempt is under way the word says where in the log it began. So a pop and the end
//     of an attempt make no record. When the facts are copied meanwhile or later, the copy takes
//     over what the word says (TakeOver).
// Memory: 8 bytes a slot, for the largest PodId that was ever seen and up to 63 more, and the
// records.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include "engine/base/atom.h"
#include "engine/base/segmented_array.h"
#include "engine/base/zeroed_memory.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queueing_fields.h"

namespace schedq {

// An attempt that the record knows nothing of.
enum class AttemptState : uint8_t { kNone, kUnderWay, kOver };

// A slot's word, taken apart.
struct SlotWord {
  static constexpr uint32_t kRecordBits = 28;
  static constexpr uint32_t kStateBits = 3;

  uint32_t record = kNoRecord;
  Place queued = Place::kAbsent;               // A place of a queue, or kAbsent.
  AttemptState attempt = AttemptState::kNone;  // Of a pod that is in no queue.
  bool live = false;
  // The record's, or the last record's; while an attempt is under way, its position in the log.
  uint32_t version_or_position = 0;

  static uint32_t RecordIn(uint64_t bits) {
    return static_cast<uint32_t>(bits & ((1u << kRecordBits) - 1));
  }
  static SlotWord From(uint64_t bits) {
    const uint32_t state = StateIn(bits);
    return {.record = RecordIn(bits),
            .queued = state < kAttempts ? static_cast<Place>(state) : Place::kAbsent,
            .attempt = state < kAttempts ? AttemptState::kNone
                                         : static_cast<AttemptState>(state - kAttempts + 1),
            .live = (bits >> (kRecordBits + kStateBits) & 1) != 0,
            .version_or_position = static_cast<uint32_t>(bits >> 32)};
  }
  static bool IsUnderWayIn(uint64_t bits) { return StateIn(bits) == kAttempts; }
  // An attempt's state is no place of the pool.
  static bool IsInPoolIn(uint64_t bits) {
    static_assert(std::has_single_bit(kGated ^ kUnschedulable), "a bit tells one from the other");
    return (bits & (kStateMask ^ kGated ^ kUnschedulable)) == (kGated & kUnschedulable);
  }
  static bool IsGatedIn(uint64_t bits) { return (bits & kStateMask) == kGated; }
  uint64_t Bits() const {
    const uint32_t state = attempt == AttemptState::kNone
                               ? static_cast<uint32_t>(queued)
                               : static_cast<uint32_t>(attempt) + kAttempts - 1;
    return uint64_t{record} | uint64_t{state} << kRecordBits |
           uint64_t{live} << (kRecordBits + kStateBits) | uint64_t{version_or_position} << 32;
  }

 private:
  static constexpr uint64_t kStateMask = ((uint64_t{1} << kStateBits) - 1) << kRecordBits;
  static constexpr uint64_t kGated = static_cast<uint64_t>(Place::kGated) << kRecordBits;
  static constexpr uint64_t kUnschedulable = static_cast<uint64_t>(Place::kUnschedulable)
                                             << kRecordBits;
  static uint32_t StateIn(uint64_t bits) {
    return static_cast<uint32_t>(bits >> kRecordBits) & ((1u << kStateBits) - 1);
  }

  // States from here on are attempts; those below are places.
  static constexpr uint32_t kAttempts = static_cast<uint32_t>(Place::kInFlight);
  static_assert(kAttempts + 2 <= 1 << kStateBits, "places and attempts fit into the word");
};

template <template <typename> class Atom>
class PodTable {
  using Record = typename PodRecordPool<Atom>::Record;

 public:
  // A slot's state with its record pinned. Empty: the slot has no record.
  class Pinned {
   public:
    Pinned() = default;
    Pinned(const PodTable* table, Record* record, uint64_t bits)
        : table_(table), record_(record), bits_(bits) {}
    Pinned(Pinned&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)),
          record_(std::exchange(other.record_, nullptr)),
          bits_(other.bits_) {}
    Pinned& operator=(Pinned&& other) noexcept {
      std::swap(table_, other.table_);
      std::swap(record_, other.record_);
      std::swap(bits_, other.bits_);
      return *this;
    }
    ~Pinned() {
      if (table_ != nullptr) table_->records_.Release(*record_, SlotWord::RecordIn(bits_));
    }

    explicit operator bool() const { return record_ != nullptr; }
    SlotWord word() const { return SlotWord::From(bits_); }
    uint64_t bits() const { return bits_; }
    const PodFacts& facts() const { return record_->facts(); }
    // Where the attempt of these facts began, if it is in flight.
    FlightPosition flight() const {
      return SlotWord::IsUnderWayIn(bits_) ? FlightPosition{word().version_or_position}
                                           : facts().flight;
    }
    bool IsInFlight() const { return flight().IsSet(); }
    // As the outside sees it.
    Place Shown() const {
      if (word().queued != Place::kAbsent) return word().queued;
      return IsInFlight() || facts().older != kNoRecord ? Place::kInFlight : Place::kAbsent;
    }
    // The facts' fields with what the word adds to them.
    QueueingFields fields() const {
      QueueingFields fields = facts().fields;
      if (word().attempt != AttemptState::kNone) ++fields.attempts;
      return fields;
    }
    // Puts what the word adds into a copy of the facts.
    void TakeOver(PodFacts* copy) const {
      copy->fields = fields();
      copy->flight = flight();
    }
    // Prefetches what hints and PreEnqueue read of the pod.
    void PrefetchPod() const {
      PodTable::PrefetchPodAt(reinterpret_cast<uint64_t>(facts().pod.get()));
    }
    // Of the next record that is queued under this slot.
    uint32_t NextVersion() const {
      const uint32_t last = record_ != nullptr ? facts().version : word().version_or_position;
      return last + PodFacts::kVersionStep;
    }

   private:
    // Null: nothing to release, because a scan holds the record or there is none.
    const PodTable* table_ = nullptr;
    Record* record_ = nullptr;
    uint64_t bits_ = 0;
  };

  // A look at many slots: their records may be read without counting a reference to each, which
  // costs two locked exchanges. A thread has one scan at a time.
  class Scan {
   public:
    explicit Scan(const PodTable& table) : table_(table), era_(table.records_.BeginEra()) {}
    Scan(const Scan&) = delete;
    Scan& operator=(const Scan&) = delete;
    ~Scan() { table_.records_.EndEra(); }

    // For Glance::IsHeldIn; another one after Renew.
    uint64_t era() const { return era_; }

    // What a slot said, while its record is prefetched. Good until the scan is renewed or ends.
    class Glance {
     public:
      // Whether the record may be read as it is in the scan's era; it is younger otherwise.
      bool IsHeldIn(uint64_t era) const { return record_->IsMadeBefore(era); }
      uint64_t bits() const { return bits_; }
      SlotWord word() const { return SlotWord::From(bits_); }
      // Without a reference. Only if it is held.
      Pinned State() const { return {nullptr, record_, bits_}; }

     private:
      friend class Scan;
      // What is asked of many lies in the record's first line.
      void Take(const PodTable& table, uint64_t bits) {
        bits_ = bits;
        record_ = &table.records_.RecordAt(SlotWord::RecordIn(bits));
        __builtin_prefetch(record_);
      }

      Record* record_;
      uint64_t bits_;
    };

    // False: the slot has no record, or is not `wanted`.
    template <typename IsWanted>
    bool GlanceIf(PodId id, IsWanted is_wanted, Glance* glance) const {
      if (id >= table_.limit()) return false;
      const uint64_t bits = table_.slots_[id].load();
      if (SlotWord::RecordIn(bits) == kNoRecord || !is_wanted(SlotWord::From(bits))) return false;
      glance->Take(table_, bits);
      return true;
    }
    // Glances at each slot `first` + n of which bit n is set, all below the limit, whose pod is in
    // the pool, and calls `visit(PodId, const Glance&)`. `first` is a multiple of 64.
    template <typename Visit>
    void GlanceAtPool(PodId first, uint64_t bits, Visit visit) const {
      constexpr uint32_t kBits = 64;
      const uint64_t whole_row = ~uint64_t{0} >> (kBits - table_.step_);
      for (uint32_t row = 0; row < kBits; row += table_.step_) {
        GlanceAtRow(first + row, bits >> row & whole_row, visit);
      }
    }
    // As PinIf. What it returns is good as long as a glance.
    template <typename IsWanted>
    Pinned LookIf(PodId id, IsWanted is_wanted) const {
      Glance glance;
      if (!GlanceIf(id, is_wanted, &glance)) return {};
      return glance.IsHeldIn(era_) ? glance.State() : table_.PinIf(id, is_wanted);
    }

    // Lets records go that are out of use. Nothing that was read is good any more.
    void Renew() {
      if (!table_.records_.IsAnyRetired()) return;
      table_.records_.EndEra();
      era_ = table_.records_.BeginEra();
    }

   private:
    // Slots of one row lie behind each other.
    template <typename Visit>
    void GlanceAtRow(PodId first, uint64_t bits, Visit visit) const {
      if (bits == 0) return;
      const Atom<uint64_t>* const slots = &table_.slots_[first];
      for (; bits != 0; bits &= bits - 1) {
        const auto number = static_cast<uint32_t>(std::countr_zero(bits));
        const uint64_t word = slots[number].load();
        if (!SlotWord::IsInPoolIn(word)) continue;
        Glance glance;
        glance.Take(table_, word);
        visit(first + number, glance);
      }
    }

    const PodTable& table_;
    uint64_t era_;
  };

  // A word has bits for so many records.
  static constexpr uint32_t kRecordsMax = 1u << SlotWord::kRecordBits;

  explicit PodTable(uint32_t first_bits = 10, uint32_t records_max = kRecordsMax)
      : step_(1u << std::min(first_bits, kStepBitsMax)),
        slots_(first_bits),
        records_(first_bits, std::min(records_max, kRecordsMax)) {}
  PodTable(const PodTable&) = delete;
  PodTable& operator=(const PodTable&) = delete;
  ~PodTable() {
    for (uint32_t id = 0; id < limit(); ++id) records_.Release(Peek(id).record);
  }

  PodRecordPool<Atom>& records() { return records_; }
  const PodRecordPool<Atom>& records() const { return records_; }

  // Slots below this may be read. Grows only. Sequentially consistent, as Ensure is: a thread that
  // raises it and then finds no event, and an event that then looks at all slots, must not miss
  // each other.
  uint32_t limit() const { return limit_.load(); }

  // The limit once the slot of `id` is usable: it grows in steps, so that few pods raise it.
  uint32_t LimitWith(PodId id) const { return std::max<uint32_t>(limit(), RowEndOf(id)); }
  // Makes the slot of `id` usable.
  void Ensure(PodId id) {
    if (id < limit()) return;
    const uint32_t raised = LimitWith(id);
    slots_.ReserveThrough(raised - 1);
    uint32_t seen = limit();
    // A thread that sees a slot below it may touch its segment. A retry means that another thread
    // raised it.
    while (seen < raised && !limit_.compare_exchange_weak(seen, raised)) {
    }
  }

  Pinned Pin(PodId id) const {
    return PinIf(id, [](const SlotWord&) { return true; });
  }
  // Empty also where the word is not `wanted`. A retry means that it changed between its two reads.
  template <typename IsWanted>
  Pinned PinIf(PodId id, IsWanted is_wanted) const {
    if (id >= limit()) return {};
    const Atom<uint64_t>& slot = slots_[id];
    uint64_t bits = slot.load();
    for (;;) {
      const uint32_t number = SlotWord::RecordIn(bits);
      if (number == kNoRecord || !is_wanted(SlotWord::From(bits))) return {nullptr, nullptr, bits};
      Record& record = records_.RecordAt(number);
      // The reference is counted in the first line, which comes meanwhile.
      __builtin_prefetch(reinterpret_cast<const char*>(&record) + kCacheLineBytes);
      const bool is_retained = record.TryRetain();
      const uint64_t again = LoadSlotAgain(slot);
      if (is_retained && again == bits) return {this, &record, bits};
      if (is_retained) records_.Release(record, number);
      bits = again;
    }
  }

  // The slot's word, without its record: a hint that may be stale at once.
  SlotWord Peek(PodId id) const { return SlotWord::From(slots_[id].load()); }
  // Whether the slot still is as it was pinned.
  bool IsUnchanged(PodId id, const Pinned& pinned) const {
    return slots_[id].load() == pinned.bits();
  }

  // Prefetches a pod's record, or the pod object that it names. The number may be anything.
  // Relaxed: hints.
  void PrefetchRecord(PodId id) const {
    if (const Record* record = RecordHint(id)) Prefetch(record);
  }
  void PrefetchPod(PodId id) const {
    if (const Record* record = RecordHint(id)) PrefetchPodAt(record->PodAddressHint());
  }

  // Exchanges the pinned word for `next`. If `next` names another record, its reference passes to
  // the slot on success, and stays the caller's on failure.
  // Sequentially consistent: a pod that entered the pool must be seen by every event that was
  // logged after the pod last read the log, and the other way round (event_log.h).
  bool Exchange(PodId id, const Pinned& pinned, const SlotWord& next) {
    uint64_t expected = pinned.bits();
    const bool is_done = slots_[id].compare_exchange_strong(expected, next.Bits());
    if (is_done && next.record != pinned.word().record) records_.Release(pinned.word().record);
    return is_done;
  }

 private:
  static constexpr uint32_t kStepBitsMax = 6;

  // The second read of a slot, behind a sequentially consistent one, than which it sees nothing
  // older. Acquire pairs with the exchange that put the word there: without it the record's facts
  // could be seen as they were before their last change. Not stronger: what else it must not miss,
  // that the record's memory holds another record by now, comes by way of TryRetain.
  static uint64_t LoadSlotAgain(const Atom<uint64_t>& slot) { return LoadAcquire(slot); }

  static void Prefetch(const Record* record) {
    __builtin_prefetch(record);
    __builtin_prefetch(reinterpret_cast<const char*>(record) + kCacheLineBytes);
  }
  // From its count of references to its namespace.
  static void PrefetchPodAt(uint64_t pod) {
    constexpr uint64_t kLinesRead = 3;
    for (uint64_t line = 0; line < kLinesRead; ++line) {
      const uint64_t address = pod - kPodCountBytes + line * kCacheLineBytes;
      __builtin_prefetch(reinterpret_cast<const void*>(address));
    }
  }
  uint32_t RowEndOf(PodId id) const { return (id | (step_ - 1)) + 1; }

  const Record* RecordHint(PodId id) const {
    if (id >= LoadRelaxed(limit_)) return nullptr;
    const uint32_t number = SlotWord::RecordIn(LoadRelaxed(slots_[id]));
    return number == kNoRecord ? nullptr : &records_.RecordAt(number);
  }

  // A power of two, at most the slots of the first segment. So the slots of one step lie behind
  // each other: they are a row.
  const uint32_t step_;
  // Each is written by the thread that wins a move of the pod.
  SegmentedArray<Atom<uint64_t>, Atom> slots_;
  // Raised by Ensure; a stale reader sees fewer slots.
  Atom<uint32_t> limit_{0};
  // Pinning a record counts a reference to it, and changes nothing else.
  mutable PodRecordPool<Atom> records_;
};

}  // namespace schedq
