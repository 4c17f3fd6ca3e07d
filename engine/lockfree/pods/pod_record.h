// One version of what the queue knows of a pod. Never changed once others can see it.
//
// Purpose: a slot (pod_table.h) names one record; to change anything but where the pod is, a thread
// makes a new record and exchanges it. So a reader that has pinned a record sees fields that belong
// together, and no thread waits for a writer. An attempt needs no new record: the slot's word says
// that it is under way, where it began and that it counts.
// Threads: all operations of the pool from any thread, lock-free.
// Invariants:
//  1. A record has references: one from the slot or the newer record that names it, or from the
//     change that it is, and one from each thread that has pinned it. At zero its content is
//     destroyed and its memory used again.
//  2. References are zero while a record is free, so a late reader cannot pin it; a reader that
//     pins the next record made from the same memory finds out from the slot's word.
//  3. A thread that looks at many slots may read their records without references. It announces an
//     era (a number that grows with each announcement) and then reads slots. A record without
//     references that was made before an announced era is retired instead of destroyed, until that
//     era is withdrawn. For the record's slot was exchanged before it was released: a reader that
//     saw it there had announced its era before, so the era is found (all of this in seq_cst). A
//     record that was made since the era began is not held: it tells its birth, and is to be
//     pinned. Birth and era are compared in one way on both sides (IsMadeBefore), so that both say
//     the same also where a birth's 32 bits have wrapped.
// Memory: as many records of two cache lines as were ever in use or retired at one time; they are
// never given back. A stalled reader holds at most the records that were in use when its era began.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "engine/base/atom.h"
#include "engine/base/index_pool.h"
#include "engine/base/result.h"
#include "engine/base/zeroed_memory.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/memory/era_pool.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queueing_fields.h"

namespace schedq {

inline constexpr uint32_t kNoRecord = 0;

// An entry of the nomination index, and which use of it. Entry 0 is none.
struct Nomination {
  uint32_t entry = 0;
  uint32_t generation = 0;
  bool operator==(const Nomination&) const = default;
};

struct PodFacts {
  PodRef pod;  // The newest version that the cluster has told.
  QueueingFields fields;
  uint64_t uid_fingerprint = 0;
  PodId id = kNoPod;
  // What a ticket that was published for these facts carries (pod_table.h).
  uint32_t version = 0;
  Nomination nomination;
  // Where the attempt began, if these facts were made while it was in flight.
  FlightPosition flight;
  // An attempt of an earlier incarnation, or of this one before it was added anew under its uid,
  // that is still in flight. Owned by this record.
  uint32_t older = kNoRecord;

  PodKey key() const { return {id, uid_fingerprint}; }
  // Records that are queued one after the other have versions so far apart; in between is the pod's
  // end, which observers hear of with a number too. A move's name has two bits besides
  // (unfinished_moves.h).
  static constexpr uint32_t kVersionStep = 4;
  uint32_t VersionOfEnd() const { return version + 1; }
};

template <template <typename> class Atom>
class alignas(kCacheLineBytes) PodRecord {
 public:
  Atom<uint64_t>& FreeLink() { return free_link_; }
  const PodFacts& facts() const {
    return *std::launder(reinterpret_cast<const PodFacts*>(storage_.Read().bytes));
  }
  PodFacts& mutable_facts() {
    return *std::launder(reinterpret_cast<PodFacts*>(storage_.Mutable().bytes));
  }
  // From facts that are moved or copied, or with a pod of which nothing else is known.
  template <typename Facts>
  void Construct(Facts&& from) {
    Begun(new (storage_.Mutable().bytes) PodFacts(std::forward<Facts>(from)));
  }
  void Construct(PodRef pod, uint64_t uid_fingerprint) {
    auto* const facts = new (storage_.Mutable().bytes) PodFacts();
    facts->pod = std::move(pod);
    facts->uid_fingerprint = uid_fingerprint;
    Begun(facts);
  }
  void Destroy() { mutable_facts().~PodFacts(); }

  // Release pairs with the acquire in TryRetain: without it a thread that pins the record, in place
  // of the one that its memory held before, could still see the slot name that one.
  void StoreFirstReference() { references_.store(1, std::memory_order_release); }

  // False: the record is free.
  bool TryRetain() {
    uint32_t references = LoadRelaxed(references_);
    do {
      if (references == 0) return false;
      // Acquire pairs with StoreFirstReference. Each retry is another thread's success.
    } while (!references_.compare_exchange_weak(
        references, references + 1, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
  }
  // True: that was the last one. Acquire-release: the destruction comes after every use.
  bool Drop() { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // Where the pod object probably is: a hint for a prefetch. May be anything.
  uint64_t PodAddressHint() const { return LoadRelaxed(free_link_); }

  // Whether a reader of this era may read the record that it saw in a slot. Relaxed: the slot's
  // exchange published a birth at least as new, and those of later records in this memory are no
  // older (a birth is read after the memory was taken, an era counts up).
  bool IsMadeBefore(uint64_t era) const {
    return static_cast<int32_t>(static_cast<uint32_t>(era) - LoadRelaxed(birth_)) >= 0;
  }
  void StoreBirth(uint64_t era) { StoreRelaxed(birth_, static_cast<uint32_t>(era)); }

 private:
  void Begun(const PodFacts* facts) {
    StoreRelaxed(free_link_, reinterpret_cast<uint64_t>(facts->pod.get()));
  }

  // Written by the record's owner while it is free or retired; else it is the hint.
  Atom<uint64_t> free_link_;
  // Written by threads that retain and drop; zero while the record is free.
  Atom<uint32_t> references_;
  // Written by the thread that makes the record: how many eras had begun.
  Atom<uint32_t> birth_;
  // Facts while there are references. Written by the thread that has the only one, or destroys the
  // record.
  struct alignas(PodFacts) Storage {
    std::byte bytes[sizeof(PodFacts)];
  };
  typename Seam<Atom>::template Plain<Storage> storage_;
};
static_assert(sizeof(PodRecord<std::atomic>) == 2 * kCacheLineBytes, "a pod's record is two lines");
static_assert(sizeof(PodRecord<std::atomic>) - sizeof(PodFacts) + offsetof(PodFacts, fields) +
                      offsetof(QueueingFields, unschedulable_count) <=
                  kCacheLineBytes,
              "what is asked of many pods at once lies in the record's first line");

template <template <typename> class Atom>
class PodRecordPool {
 public:
  using Record = PodRecord<Atom>;

  // Numbers are below `records_max`, of which pods may take half: a move of a pod that is there
  // needs one more for a moment, and scans hold those that were replaced.
  explicit PodRecordPool(uint32_t first_bits, uint32_t records_max = uint32_t{1} << 28)
      : pods_max_(records_max / 2), records_(first_bits, records_max) {
    // Number 0 means no record.
    SCHEDQ_CHECK(records_.Allocate() == kNoRecord, "a fresh pool begins with number 0");
  }
  PodRecordPool(const PodRecordPool&) = delete;
  PodRecordPool& operator=(const PodRecordPool&) = delete;
  // No thread reads any more.
  ~PodRecordPool() {
    SweepRetired([](uint32_t, uint32_t) { return false; });
  }

  // From here to EndEra this thread may read, without a reference, each record that it finds in a
  // slot and that was made before the era. A thread has one era at a time.
  uint64_t BeginEra() {
    // The addition first: a thread that retires a record after this announcement finds it counted.
    const uint64_t era = eras_begun_.fetch_add(1);
    eras_.Announce(era);
    return era;
  }
  void EndEra() {
    eras_.Withdraw();
    if (retired_.IsSweepDue()) SweepRetired();
  }
  // Whether a new era would let records go. A hint.
  bool IsAnyRetired() const { return retired_.IsSweepDue(); }

  // With one reference, the caller's, which may change the content until others can see it. A
  // reference to the older attempts passes to the record.
  template <typename... Content>
  uint32_t Make(Content&&... content) {
    const uint32_t number = records_.Allocate();
    Record& record = records_[number];
    record.Construct(std::forward<Content>(content)...);
    record.StoreBirth(LoadRelaxed(eras_begun_));
    record.StoreFirstReference();
    return number;
  }
  // The same with the content of other facts, whose older attempts both own from now on.
  uint32_t Copy(const PodFacts& facts) {
    if (facts.older != kNoRecord) Retain(facts.older);
    return Make(facts);
  }

  // How many records pods may hold: the newest of each, and those of older attempts in flight.
  uint32_t pods_max() const { return pods_max_; }
  // How many there ever were at one time. May be stale.
  uint64_t Used() const { return records_.Used(); }

  // To be retained, or prefetched, before anything is read.
  Record& RecordAt(uint32_t number) const { return records_[number]; }
  // For a caller that has a reference.
  void Retain(uint32_t number) {
    SCHEDQ_CHECK(records_[number].TryRetain(), "a referenced record is not free");
  }

  void Release(uint32_t number) {
    if (number != kNoRecord) Release(records_[number], number);
  }
  void Release(Record& record, uint32_t number) {
    if (record.Drop()) DestroyChain(number);
  }

  const PodFacts& At(uint32_t number) const { return records_[number].facts(); }
  // Of a record that no other thread can see.
  PodFacts& MutableAt(uint32_t number) { return records_[number].mutable_facts(); }

 private:
  // Of a record without references. Bound: the length of the chain of older attempts.
  void DestroyChain(uint32_t number) {
    for (bool is_last = true; is_last;) {
      Record& record = records_[number];
      const uint64_t eras_begun = eras_begun_.load();
      if (IsHeld(record, eras_begun)) {
        return retired_.Push(number, static_cast<uint32_t>(eras_begun), Link());
      }
      const uint32_t older = Destroy(number);
      number = older;
      is_last = number != kNoRecord && records_[number].Drop();
    }
  }

  // Returns the older attempts, whose reference is the caller's now.
  uint32_t Destroy(uint32_t number) {
    Record& record = records_[number];
    const uint32_t older = record.facts().older;
    record.Destroy();
    records_.Free(number);
    return older;
  }

  // Whether a reader may look at a record that left its slot when `eras_begun` eras had begun.
  bool IsHeld(const Record& record, uint64_t eras_begun) const {
    return eras_.IsAny([&](uint64_t era) { return era < eras_begun && record.IsMadeBefore(era); });
  }

  auto Link() const {
    return [this](uint32_t number) -> Atom<uint64_t>& { return records_[number].FreeLink(); };
  }

  void SweepRetired() {
    const uint64_t now = eras_begun_.load();
    SweepRetired([&](uint32_t number, uint32_t note) {
      // The count at retirement from its low half. At worst that is too late by what the half
      // wraps at, and the record is held a little longer.
      const uint64_t retirement = now - static_cast<uint32_t>(static_cast<uint32_t>(now) - note);
      return IsHeld(records_[number], retirement);
    });
  }
  template <typename IsHeldStill>
  void SweepRetired(IsHeldStill is_held) {
    retired_.Sweep(Link(), is_held, [this](uint32_t number) {
      const uint32_t older = Destroy(number);
      Release(older);
    });
  }

  const uint32_t pods_max_;
  IndexPool<Record, Atom> records_;
  EraTable<Atom> eras_;
  // Raised by each era that begins. A maker of a record that reads it stale says that the record is
  // older than it is, so that it is held longer.
  Atom<uint64_t> eras_begun_{0};
  RetiredList<Atom> retired_{1};
};

}  // namespace schedq
