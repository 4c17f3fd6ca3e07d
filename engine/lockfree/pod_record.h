// One version of what the queue knows of a pod. Never changed once others can see it.
//
// Purpose: a slot (pod_table.h) names one record; to change anything but where the pod is, a thread
// makes a new record and exchanges it. So a reader that has pinned a record sees fields that belong
// together, and nobody waits for a writer. An attempt needs no new record: the slot's word says
// that it is under way, where it began and that it counts.
// Threads: all operations of the pool from any thread, lock-free.
// Invariants:
//  1. A record has references: one from the slot or the newer record that names it, or from the
//     draft that it is, and one from each thread that has pinned it. At zero its content is
//     destroyed and its memory used again.
//  2. References are zero while a record is free, so a late reader cannot pin it; a reader that
//     pins the next record made from the same memory finds out from the slot's word.
// Memory: as many records of two cache lines as were ever in use at one time; they are never given
// back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "engine/base/index_pool.h"
#include "engine/lockfree/event_log.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queueing_fields.h"

namespace schedq {

inline constexpr uint32_t kNoRecord = 0;

// The node that a pod is nominated to, as the nomination index knows it. Node 0 is none.
struct Nomination {
  uint32_t node = 0;
  uint32_t sequence = 0;
};

struct PodFacts {
  PodRef pod;  // The newest version that the cluster has told.
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
  QueueingFields fields;

  PodKey key() const { return {id, uid_fingerprint}; }
  // Records that are queued one after the other have versions two apart; in between is the pod's
  // end, which observers hear of with a number too.
  static constexpr uint32_t kVersionStep = 2;
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

  // Release pairs with the acquire in TryRetain: without it who pins the record in place of the one
  // that its memory held before could still see the slot name that one.
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

  // Where the pod object probably is, for who wants to warm the cache. May be anything.
  uint64_t PodAddressHint() const { return LoadRelaxed(free_link_); }

 private:
  void Begun(const PodFacts* facts) {
    StoreRelaxed(free_link_, reinterpret_cast<uint64_t>(facts->pod.get()));
  }

  // Written by whoever owns the record while it is free; then it is the hint.
  Atom<uint64_t> free_link_;
  // Written by all who retain and drop; zero while the record is free.
  Atom<uint32_t> references_;
  // Facts while there are references. Written by whoever has the only one, or destroys the record.
  struct alignas(PodFacts) Storage {
    std::byte bytes[sizeof(PodFacts)];
  };
  typename Seam<Atom>::template Plain<Storage> storage_;
};
static_assert(sizeof(PodRecord<std::atomic>) == 2 * kCacheLineBytes, "a pod's record is two lines");

template <template <typename> class Atom>
class PodRecordPool {
 public:
  using Record = PodRecord<Atom>;

  explicit PodRecordPool(uint32_t first_bits) : records_(first_bits) {
    // Number 0 means no record.
    SCHEDQ_CHECK(records_.Allocate() == kNoRecord, "a fresh pool begins with number 0");
  }

  // With one reference, the caller's, who may change the content until others can see it. A
  // reference to the older attempts passes to the record.
  template <typename... Content>
  uint32_t Make(Content&&... content) {
    const uint32_t number = records_.Allocate();
    Record& record = records_[number];
    record.Construct(std::forward<Content>(content)...);
    record.StoreFirstReference();
    return number;
  }
  // The same with the content of other facts, whose older attempts both own from now on.
  uint32_t Copy(const PodFacts& facts) {
    if (facts.older != kNoRecord) Retain(facts.older);
    return Make(facts);
  }

  // To be retained, or warmed up, before anything is read.
  Record& RecordAt(uint32_t number) const { return records_[number]; }
  // For a caller who has a reference.
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
  // Of a record that nobody else can see.
  PodFacts& MutableAt(uint32_t number) { return records_[number].mutable_facts(); }

 private:
  // Of a record without references. Bound: the length of the chain of older attempts.
  void DestroyChain(uint32_t number) {
    for (bool is_last = true; is_last;) {
      Record& record = records_[number];
      const uint32_t older = record.facts().older;
      record.Destroy();
      records_.Free(number);
      number = older;
      is_last = number != kNoRecord && records_[number].Drop();
    }
  }

  IndexPool<Record, Atom> records_;
};

}  // namespace schedq
