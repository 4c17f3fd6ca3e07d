// Strings as dense 32-bit numbers, shared between threads and read without locks.
//
// Purpose: "namespace/name" of a pod, its uid, a claim, a plugin, a node are compared, hashed and
// stored as a number. A name has a count of references; at zero its number may be used again.
// When not to use it: for strings that one thread owns, and for keys that are never seen again.
//
// Threads: every operation from any thread at any time.
//
// | operation | progress | linearization point |
// |---|---|---|
// | Acquire | lock-free | known: the exchange that adds a reference; new: that which links it in |
// | AcquireKnown | lock-free | the exchange that adds a reference; absent: the last link read |
// | Find, ReadKnown | lock-free | the last read of the name's state; absent: the last link read |
// | Text, Retain | wait-free | the one access |
// | Release | lock-free | the subtraction of a reference |
// An operation retries only when another thread's step succeeded meanwhile. A thread that is frozen
// while it opens a bucket leaves the bucket unopened: other threads then start at its parent, which
// is slower and still correct. Growth allocates memory; nothing else does for names of up to 320
// bytes.
//
// Structure: one list of all names, ordered by a hash with a secret key (name_key.h), so that only
// this process knows which names are neighbours. Bucket b is a link cell inside the list at the
// place where hashes that end in b begin. Doubling the buckets moves nothing: a new bucket is
// linked in at its first use. Names live in slots of 64 bytes whose memory never changes its
// type, so a late reader reads a newer name and learns so from the generation in the slot's state.
//
// Invariants:
//  1. A slot's state is (generation, references). References are above zero only while the slot is
//     owned by the thread that links it in, or linked. Once they are zero the generation is dead.
//  2. A dead slot's link is marked, then the slot is unlinked, then it is free. Each thread whose
//     walk visits a dead slot helps with the next step; the thread that unlinks it frees it. A new
//     generation begins before its link is written.
//  3. Two slots in the list never both have references and equal texts: a new name is linked where
//     the run of its hash ends, by an exchange that fails if anything was added there.
//  4. The tag of a link grows with each change for the life of the memory, so no exchange succeeds
//     on a link that changed and changed back (unless 2^31 changes fall into one step).
//
// Limits: a text of at most kTextBytesMax bytes, and as many names alive at one time as the
// constructor says. Acquire of a new name beyond them returns kNoName and leaves no trace; known
// names are acquired all the same, and new ones again as soon as others go.
//
// Memory: a slot of 64 bytes and one to two bucket words of 8 for each of the most names that were
// alive at one time, and blocks for the most bytes of names above 32 bytes that were alive at one
// time in each power of two. Names that come and go do not make it grow; it is never freed.
//
// Source: O. Shalev and N. Shavit, Split-Ordered Lists: Lock-Free Extensible Hash Tables, 2003;
// M. Michael, High Performance Dynamic Lock-Free Hash Tables and List-Based Sets, 2002 (the variant
// with tags); the buckets as cells of the list and the helpers' rules are our own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/atom.h"
#include "engine/base/index_pool.h"
#include "engine/base/metrics/metric_cells.h"
#include "engine/base/names/interner_forward.h"
#include "engine/base/names/name_key.h"
#include "engine/base/names/name_link.h"
#include "engine/base/names/name_slot.h"
#include "engine/base/names/packed_text.h"
#include "engine/base/segmented_array.h"

namespace schedq {

// Instead of a number: there is no room for the name.
inline constexpr uint32_t kNoName = ~uint32_t{0};

template <template <typename> class Atom>
class BasicInterner {
 public:
  static constexpr size_t kTextBytesMax = TextPlace::kSizeMax;

  // The first segments hold 2^first_bits slots and buckets. The numbers that names get do not
  // depend on the key.
  explicit BasicInterner(uint32_t first_bits = 10, NameKey key = Seam<Atom>::KeyOfNames(),
                         uint32_t names_max = NameLink::kIndexMax);
  BasicInterner(const BasicInterner&) = delete;
  BasicInterner& operator=(const BasicInterner&) = delete;

  // The name's number, with one more reference that the caller releases; or kNoName. The forms with
  // two parts mean the text "namespace/name".
  uint32_t Acquire(std::string_view text) { return AcquirePacked(Packed(text)); }
  uint32_t Acquire(std::string_view namespace_name, std::string_view name) {
    return AcquirePacked(Packed(namespace_name, name));
  }

  // A name "namespace/name" that is probably new, acquired in steps. A new name's place is random
  // memory; it is prefetched while the caller does other work between the steps. One thread; the
  // interner outlives it. Destroyed before Acquire, it changes nothing.
  class Newcomer {
   public:
    Newcomer(BasicInterner* names, std::string_view namespace_name, std::string_view name)
        : names_(names),
          text_(names->key_, namespace_name, name),
          bucket_(names->BucketOf(text_.hash())) {
      names_->PrefetchBuckets(bucket_);
    }
    Newcomer(const Newcomer&) = delete;
    Newcomer& operator=(const Newcomer&) = delete;
    ~Newcomer() {
      if (slot_) names_->DiscardSlot(*slot_);
    }

    // Some time after the construction: writes the slot, and prefetches what the buckets lead to.
    void Prepare() {
      slot_ = names_->PrepareSlot(text_);
      names_->PrefetchNeighbours(bucket_);
    }
    // Once, some time later: as BasicInterner::Acquire.
    uint32_t Acquire() { return names_->AcquirePacked(text_, &slot_); }

   private:
    BasicInterner* const names_;
    const PackedText text_;
    const uint32_t bucket_;  // As of the construction; the number of buckets may have grown since.
    std::optional<uint32_t> slot_;
  };

  // The same if the name is known; nullopt otherwise.
  std::optional<uint32_t> AcquireKnown(std::string_view text) {
    return AcquireKnownPacked(Packed(text));
  }
  std::optional<uint32_t> AcquireKnown(std::string_view namespace_name, std::string_view name) {
    return AcquireKnownPacked(Packed(namespace_name, name));
  }

  // The number of a known name, without a reference. If the caller holds no reference of its own,
  // the number may stand for another name when it is used.
  std::optional<uint32_t> Find(std::string_view text) const { return FindPacked(Packed(text)); }
  std::optional<uint32_t> Find(std::string_view namespace_name, std::string_view name) const {
    return FindPacked(Packed(namespace_name, name));
  }

  // Calls `read(number)`, possibly several times. What the last call read belongs to the name: the
  // number stood for the name from before that call until after it. This needs that what is kept by
  // number is read with acquire and written by holders of a reference. False: the name was not
  // known, and what was read means nothing. `expect(number)` may be called before, as soon as the
  // number is likely, to prefetch what it leads to.
  template <typename Expect, typename Read>
  bool ReadKnown(std::string_view namespace_name, std::string_view name, Expect expect,
                 Read read) const {
    return FindPacked(Packed(namespace_name, name), expect, read).has_value();
  }

  template <typename Read>
  bool ReadKnown(std::string_view text, Read read) const {
    return FindPacked(
               Packed(text), [](uint32_t) {}, read)
        .has_value();
  }

  // Valid while a reference is held.
  std::string_view Text(uint32_t id) const { return texts_.View(slots_[id]); }

  // One more reference, for a caller that holds one.
  void Retain(uint32_t id) { slots_[id].AddReference(); }
  void Release(uint32_t id);

  // Names alive. May be stale.
  size_t size() const { return static_cast<size_t>(alive_.At(0).Sum()); }
  // All numbers that were ever used are below this: the size of a table by number. May be stale.
  uint32_t id_limit() const { return static_cast<uint32_t>(slots_.Used()); }

 private:
  using Slot = NameSlot<Atom>;

  PackedText Packed(std::string_view text) const { return PackedText(key_, text); }
  PackedText Packed(std::string_view namespace_name, std::string_view name) const {
    return PackedText(key_, namespace_name, name);
  }

  // Where a walk ended: `link` was read from `cell` and leads past the wanted place. `passed` is
  // the order of the cell's owner, or zero where the walk began.
  struct Position {
    Atom<uint64_t>* cell;
    NameLink link;
    uint64_t passed = 0;
  };

  uint32_t AcquirePacked(const PackedText& text);
  // `prepared`: a slot for the text, or nullopt; becomes nullopt if the slot was linked in.
  uint32_t AcquirePacked(const PackedText& text, std::optional<uint32_t>* prepared);
  std::optional<uint32_t> AcquireKnownPacked(const PackedText& text);
  std::optional<uint32_t> FindPacked(const PackedText& text) const;
  template <typename Expect, typename Read>
  std::optional<uint32_t> FindPacked(const PackedText& text, Expect expect, Read read) const;

  // Walks from `start` to the first entry beyond `order`. Removes the dead slots on the way, and
  // calls `visit(index, slot, state)` for each live slot of exactly that order until it returns
  // true.
  template <typename Visit>
  Position Walk(uint64_t order, Atom<uint64_t>* start, Visit visit);
  // One slot of a walk. kChanged: another thread changed the list here, so the walk starts anew.
  enum class Step : uint8_t { kPassed, kRemoved, kBeyond, kFound, kChanged };
  template <typename Visit>
  Step VisitSlot(uint64_t order, Position& at, Visit& visit);
  bool RemoveDead(Position& at, NameLink next);

  // Nothing: a limit was met.
  std::optional<uint32_t> PrepareSlot(const PackedText& text);
  void DiscardSlot(uint32_t index);
  // Makes a slot that is not linked yet lead to where `link` leads.
  void LinkTo(uint32_t index, NameLink link);
  void GrowBuckets(uint32_t names);

  uint32_t BucketOf(uint64_t hash) const;
  Atom<uint64_t>* OpenBucket(uint32_t bucket);
  // A bucket that this thread is to open, and the open bucket's cell that its walk starts from.
  struct Claim {
    uint32_t bucket;
    Atom<uint64_t>* parent;
    NameLink link;  // What the cell holds.
  };
  std::optional<Claim> ClaimBucket(uint32_t bucket);
  void LinkBucket(Claim claim);
  void MarkOpen(const Claim& claim);
  bool OpenWithName(const PackedText& text, std::optional<uint32_t>* prepared);
  // Prefetch a bucket that will be read, and later, once it has come, what it leads to.
  void PrefetchBuckets(uint32_t bucket) const;
  void PrefetchNeighbours(uint32_t bucket) const;

  const NameKey key_;
  // Doubled by GrowBuckets; a stale reader starts its walk at an earlier bucket.
  Atom<uint32_t> bucket_count_;
  SegmentedArray<Atom<uint64_t>, Atom> buckets_;  // NameLinks.
  IndexPool<Slot, Atom> slots_;
  NameTexts<Atom> texts_;
  MetricCellBlock alive_{1};
};

extern template class BasicInterner<std::atomic>;

}  // namespace schedq
