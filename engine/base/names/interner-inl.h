// The operations of BasicInterner, for its instantiation and for tests with another Atom.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/base/atom.h"
#include "engine/base/names/interner.h"

namespace schedq {
namespace internal {

inline uint64_t ReverseBits(uint64_t bits) {
  bits = (bits & 0x5555555555555555) << 1 | ((bits >> 1) & 0x5555555555555555);
  bits = (bits & 0x3333333333333333) << 2 | ((bits >> 2) & 0x3333333333333333);
  bits = (bits & 0x0f0f0f0f0f0f0f0f) << 4 | ((bits >> 4) & 0x0f0f0f0f0f0f0f0f);
  return __builtin_bswap64(bits);
}

// The list is ordered by these. A name's is odd and a bucket's even, so that a bucket comes before
// the names whose first bits it shares.
inline uint64_t OrderOfName(uint64_t hash) { return ReverseBits(hash) | 1; }
inline uint64_t OrderOfBucket(uint32_t bucket) { return ReverseBits(bucket); }

// The bucket that a new one splits: itself without its highest bit.
inline uint32_t ParentOf(uint32_t bucket) { return bucket ^ std::bit_floor(bucket); }

// Reads and changes of links. Acquire pairs with the release of the exchange that wrote the link:
// without it what the link leads to could be read before it was written. Acquire also keeps the
// reads of a slot before the second read of the link that led to it, which proves that the slot was
// linked. The exchange only releases: what it expects was read with acquire, and no link's value
// returns.
template <typename A>
NameLink LoadLink(const A& cell) {
  return NameLink(LoadAcquire(cell));
}
template <typename A>
bool ExchangeLink(A& cell, NameLink expected, NameLink desired) {
  uint64_t word = expected.word();
  return cell.compare_exchange_strong(word, desired.word(), std::memory_order_release,
                                      std::memory_order_relaxed);
}

}  // namespace internal

template <template <typename> class Atom>
BasicInterner<Atom>::BasicInterner(uint32_t first_bits, NameKey key, uint32_t names_max)
    : key_(key),
      bucket_count_(uint32_t{1} << first_bits),
      buckets_(first_bits),
      slots_(first_bits, std::min(names_max, NameLink::kIndexMax)) {
  buckets_.Reserve(0);
  const NameLink end = NameLink().To(NameLink::Kind::kEnd, 0).Opened();
  // Relaxed: no other thread knows the interner yet, and the thread that shares it publishes it.
  StoreRelaxed(buckets_[0], end.word());
}

template <template <typename> class Atom>
bool BasicInterner<Atom>::RemoveDead(Position& at, NameLink next) {
  const uint32_t index = at.link.index();
  Slot& slot = slots_[index];
  if (!next.marked()) {
    // The mark makes other threads' exchanges on this link fail, so that none adds or removes after
    // this slot. The link was read before the state was seen dead, so an exchange that succeeds
    // marks that generation and no later one.
    const NameLink marked = next.Marked();
    if (!internal::ExchangeLink(slot.link(), next, marked)) return false;
    next = marked;
  }
  const NameLink around = at.link.ToSameAs(next);
  if (!internal::ExchangeLink(*at.cell, at.link, around)) return false;
  texts_.Drop(slot);
  slots_.Free(index);
  at.link = around;
  return true;
}

template <template <typename> class Atom>
template <typename Visit>
typename BasicInterner<Atom>::Step BasicInterner<Atom>::VisitSlot(uint64_t order, Position& at,
                                                                  Visit& visit) {
  const uint32_t index = at.link.index();
  Slot& slot = slots_[index];
  const NameLink next = internal::LoadLink(slot.link());
  const uint64_t slot_order = slot.LoadOrder();
  const NameState state = slot.LoadState();
  // What was read belongs to the slot that `at` leads to only if it still does.
  if (internal::LoadLink(*at.cell) != at.link) return Step::kChanged;
  if (next.marked() || state.references() == 0) {
    return RemoveDead(at, next) ? Step::kRemoved : Step::kChanged;
  }
  if (slot_order > order) return Step::kBeyond;
  if (slot_order == order && visit(index, slot, state)) return Step::kFound;
  at = {&slot.link(), next, slot_order};
  return Step::kPassed;
}

template <template <typename> class Atom>
template <typename Visit>
typename BasicInterner<Atom>::Position BasicInterner<Atom>::Walk(uint64_t order,
                                                                 Atom<uint64_t>* start,
                                                                 Visit visit) {
  Position at{start, internal::LoadLink(*start)};
  // Bound: each restart is due to a change by another thread, and each other step advances or
  // removes a slot.
  while (at.link.kind() != NameLink::Kind::kEnd) {
    if (at.link.kind() == NameLink::Kind::kBucket) {
      const uint32_t bucket = at.link.index();
      const uint64_t bucket_order = internal::OrderOfBucket(bucket);
      if (bucket_order > order) break;
      // A bucket is never removed, so the walk can continue from it without a second read.
      at = {&buckets_[bucket], internal::LoadLink(buckets_[bucket]), bucket_order};
      continue;
    }
    const Step step = VisitSlot(order, at, visit);
    if (step == Step::kBeyond || step == Step::kFound) break;
    if (step == Step::kChanged) at = {start, internal::LoadLink(*start)};
  }
  return at;
}

template <template <typename> class Atom>
std::optional<uint32_t> BasicInterner<Atom>::AcquireKnownPacked(const PackedText& text) {
  std::optional<uint32_t> found;
  const uint64_t order = internal::OrderOfName(text.hash());
  Atom<uint64_t>* const start = OpenBucket(BucketOf(text.hash()));
  Walk(order, start, [&](uint32_t index, Slot& slot, NameState state) {
    if (texts_.Equals(slot, text) && slot.AddReferenceTo(state)) found = index;
    return found.has_value();
  });
  return found;
}

template <template <typename> class Atom>
template <typename Expect, typename Read>
std::optional<uint32_t> BasicInterner<Atom>::FindPacked(const PackedText& text, Expect expect,
                                                        Read read) const {
  std::optional<uint32_t> found;
  const uint64_t order = internal::OrderOfName(text.hash());
  // A lookup opens buckets and removes dead slots, which no caller can observe.
  auto& self = const_cast<BasicInterner&>(*this);
  Atom<uint64_t>* const start = self.OpenBucket(BucketOf(text.hash()));
  // Most names are the first of their bucket.
  const NameLink first = internal::LoadLink(*start);
  if (first.kind() == NameLink::Kind::kSlot) expect(first.index());
  self.Walk(order, start, [&](uint32_t index, Slot& slot, NameState state) {
    if (!texts_.Equals(slot, text)) return false;
    read(index);
    const NameState after = slot.LoadState();
    if (after.references() == 0 || after.generation() != state.generation()) return false;
    found = index;
    return true;
  });
  return found;
}

template <template <typename> class Atom>
std::optional<uint32_t> BasicInterner<Atom>::FindPacked(const PackedText& text) const {
  return FindPacked(
      text, [](uint32_t) {}, [](uint32_t) {});
}

template <template <typename> class Atom>
uint32_t BasicInterner<Atom>::AcquirePacked(const PackedText& text) {
  std::optional<uint32_t> prepared;
  const uint32_t index = AcquirePacked(text, &prepared);
  if (prepared) DiscardSlot(*prepared);
  return index;
}

template <template <typename> class Atom>
uint32_t BasicInterner<Atom>::AcquirePacked(const PackedText& text,
                                            std::optional<uint32_t>* prepared) {
  if (OpenWithName(text, prepared)) return *std::exchange(*prepared, std::nullopt);
  const uint64_t order = internal::OrderOfName(text.hash());
  // A failed exchange means that another thread changed the list at this place.
  while (true) {
    std::optional<uint32_t> found;
    Atom<uint64_t>* const start = OpenBucket(BucketOf(text.hash()));
    const Position at = Walk(order, start, [&](uint32_t index, Slot& slot, NameState state) {
      if (texts_.Equals(slot, text) && slot.AddReferenceTo(state)) found = index;
      return found.has_value();
    });
    if (found) return *found;
    if (!*prepared) *prepared = PrepareSlot(text);
    if (!*prepared) [[unlikely]]
      return kNoName;
    LinkTo(**prepared, at.link);
    const NameLink to_new = at.link.To(NameLink::Kind::kSlot, **prepared);
    if (internal::ExchangeLink(*at.cell, at.link, to_new)) {
      alive_.At(0).Add(1);
      return *std::exchange(*prepared, std::nullopt);
    }
  }
}

template <template <typename> class Atom>
void BasicInterner<Atom>::Release(uint32_t id) {
  Slot& slot = slots_[id];
  const uint64_t order = slot.LoadOrder();
  if (!slot.DropReference()) return;
  alive_.At(0).Add(static_cast<uint64_t>(-1));
  // The walk finds the dead slot and removes it, unless another thread removed it before.
  Atom<uint64_t>* const start = OpenBucket(BucketOf(internal::ReverseBits(order)));
  Walk(order, start, [](uint32_t, Slot&, NameState) { return false; });
}

template <template <typename> class Atom>
std::optional<uint32_t> BasicInterner<Atom>::PrepareSlot(const PackedText& text) {
  if (text.size() > kTextBytesMax) [[unlikely]]
    return std::nullopt;
  const uint32_t index = slots_.TryAllocate();
  if (index == decltype(slots_)::kNone) [[unlikely]]
    return std::nullopt;
  Slot& slot = slots_[index];
  slot.BeginGeneration();
  slot.StoreOrder(internal::OrderOfName(text.hash()));
  texts_.Store(slot, text);
  GrowBuckets(index + 1);
  return index;
}

template <template <typename> class Atom>
void BasicInterner<Atom>::DiscardSlot(uint32_t index) {
  Slot& slot = slots_[index];
  slot.EndGeneration();
  texts_.Drop(slot);
  slots_.Free(index);
}

// Until a slot is linked, only its owner writes it. Release, so that a helper that still holds the
// last generation's link sees that the generation is over.
template <template <typename> class Atom>
void BasicInterner<Atom>::LinkTo(uint32_t index, NameLink link) {
  Atom<uint64_t>& own = slots_[index].link();
  StoreRelease(own, NameLink(LoadRelaxed(own)).Unmarked().ToSameAs(link).word());
}

template <template <typename> class Atom>
void BasicInterner<Atom>::GrowBuckets(uint32_t names) {
  // Relaxed: nothing is read by this number; Reserve checks the memory itself.
  uint32_t count = LoadRelaxed(bucket_count_);
  // At most one name a bucket. With fewer, a lookup seldom steps to a neighbour, but every new name
  // opens a bucket, which costs more.
  if (names <= count) return;
  buckets_.Reserve(uint64_t{count} * 2 - 1);
  // A failure means that another thread doubled it. Release publishes the buckets' memory.
  bucket_count_.compare_exchange_strong(count, count * 2, std::memory_order_release,
                                        std::memory_order_relaxed);
}

template <template <typename> class Atom>
uint32_t BasicInterner<Atom>::BucketOf(uint64_t hash) const {
  const uint32_t count = LoadAcquire(bucket_count_);
  return static_cast<uint32_t>(hash) & (count - 1);
}

// A bucket that is not open yet is opened from its parent.
template <template <typename> class Atom>
void BasicInterner<Atom>::PrefetchBuckets(uint32_t bucket) const {
  __builtin_prefetch(&buckets_[bucket], /*for a write*/ 1);
  __builtin_prefetch(&buckets_[internal::ParentOf(bucket)]);
}

template <template <typename> class Atom>
void BasicInterner<Atom>::PrefetchNeighbours(uint32_t bucket) const {
  NameLink link(LoadRelaxed(buckets_[bucket]));
  if (!link.open()) link = NameLink(LoadRelaxed(buckets_[internal::ParentOf(bucket)]));
  if (link.kind() == NameLink::Kind::kSlot) __builtin_prefetch(&slots_[link.index()]);
  if (link.kind() == NameLink::Kind::kBucket) __builtin_prefetch(&buckets_[link.index()]);
}

// The bucket's cell, or that of the nearest ancestor that may be started from. The recursion is as
// deep as the bucket's number has bits.
template <template <typename> class Atom>
Atom<uint64_t>* BasicInterner<Atom>::OpenBucket(uint32_t bucket) {
  Atom<uint64_t>& cell = buckets_[bucket];
  const NameLink link = internal::LoadLink(cell);
  if (link.open()) return &cell;
  if (link == NameLink()) {
    if (const std::optional<Claim> claim = ClaimBucket(bucket)) {
      LinkBucket(*claim);
      return &cell;
    }
  }
  // Another thread is opening it.
  return OpenBucket(internal::ParentOf(bucket));
}

// nullopt: another thread claimed it before.
template <template <typename> class Atom>
std::optional<typename BasicInterner<Atom>::Claim> BasicInterner<Atom>::ClaimBucket(
    uint32_t bucket) {
  Atom<uint64_t>* const parent = OpenBucket(internal::ParentOf(bucket));
  const NameLink claimed = NameLink().To(NameLink::Kind::kNone, 0);
  if (!internal::ExchangeLink(buckets_[bucket], NameLink(), claimed)) return std::nullopt;
  return Claim{bucket, parent, claimed};
}

template <template <typename> class Atom>
void BasicInterner<Atom>::LinkBucket(Claim claim) {
  Atom<uint64_t>& cell = buckets_[claim.bucket];
  const uint64_t order = internal::OrderOfBucket(claim.bucket);
  Position at;
  do {
    at = Walk(order, claim.parent, [](uint32_t, Slot&, NameState) { return false; });
    claim.link = claim.link.ToSameAs(at.link);
    // Relaxed: no walk continues from the cell before one of the exchanges below has published it.
    StoreRelaxed(cell, claim.link.word());
  } while (!internal::ExchangeLink(*at.cell, at.link,
                                   at.link.To(NameLink::Kind::kBucket, claim.bucket)));
  MarkOpen(claim);
}

// Once a bucket is linked in, other threads change its cell too, so to open it needs an exchange.
// Each failure means that another thread changed the cell.
template <template <typename> class Atom>
void BasicInterner<Atom>::MarkOpen(const Claim& claim) {
  Atom<uint64_t>& cell = buckets_[claim.bucket];
  NameLink link = claim.link;
  while (!internal::ExchangeLink(cell, link, link.Opened())) link = internal::LoadLink(cell);
}

// A new name is mostly the first of a bucket that was never opened: then one exchange links in the
// bucket together with the name after it. If the list has another entry between them, or gets one
// meanwhile, the bucket is opened as usual, and this returns false.
template <template <typename> class Atom>
bool BasicInterner<Atom>::OpenWithName(const PackedText& text, std::optional<uint32_t>* prepared) {
  const uint64_t order = internal::OrderOfName(text.hash());
  const uint32_t bucket = BucketOf(text.hash());
  Atom<uint64_t>& cell = buckets_[bucket];
  if (internal::LoadLink(cell) != NameLink()) return false;
  std::optional<Claim> claim = ClaimBucket(bucket);
  if (!claim) return false;
  const Position at = Walk(order, claim->parent, [](uint32_t, Slot&, NameState) { return false; });
  if (at.passed < internal::OrderOfBucket(bucket) && !*prepared) *prepared = PrepareSlot(text);
  if (at.passed < internal::OrderOfBucket(bucket) && *prepared) {
    LinkTo(**prepared, at.link);
    claim->link = claim->link.To(NameLink::Kind::kSlot, **prepared);
    // Relaxed: as in LinkBucket.
    StoreRelaxed(cell, claim->link.word());
    if (internal::ExchangeLink(*at.cell, at.link, at.link.To(NameLink::Kind::kBucket, bucket))) {
      alive_.At(0).Add(1);
      MarkOpen(*claim);
      return true;
    }
  }
  LinkBucket(*claim);
  return false;
}

}  // namespace schedq
