// A queue of entries of one priority whose timestamps never fall: one append at a time, any number
// of consumers.
//
// Purpose: the part of the active queue in which push and pop are O(1). An append whose timestamp
// is older than the last one is refused, and so is one that meets another append; the caller then
// takes another run, so no thread waits.
// When not to use it: as a queue of its own; a run refuses whatever does not suit it.
// Threads: all operations from any thread. TryAppend and TryDropMany are wait-free but for segments
// pool, which is lock-free.
// Invariants:
//  1. `tail` counts the entries ever published. Its lowest bit says that an append is at work. The
//     thread that set it owns all that is past the tail, and clears it by publishing.
//  2. `head` counts the entries ever taken and names the segment of the next one. Both counts only
//     grow, and the head never passes the tail.
//  3. The entries between head and tail have rising timestamps: an append starts only if its own
//     is no older than the last one's, or if the run is empty, which it then stays.
//  4. The segment behind the last slot of a segment is linked before that slot is published. So a
//     thread that takes the last slot knows the next segment, moves the head there in the same
//     exchange, and is the only one to give the old segment back; the appender is past it already.
//  5. A reader with an old head reads slots that may meanwhile serve another run. It then holds a
//     head whose count has passed, so its exchange fails and it drops what it read.
// Memory: one segment for kEntries entries, plus one. Segments come from a pool that all runs
// share, and an append that gets none leaves the run as it was.
// Source: the split of entries into sorted runs is that of patience sorting (Mallows, 1962).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/base/atom.h"
#include "engine/base/index_pool.h"
#include "engine/lockfree/active/active_entry.h"

namespace schedq {

template <template <typename> class Atom, uint32_t kEntries>
class RunSegment {
 public:
  static_assert((kEntries & (kEntries - 1)) == 0, "a position's low bits are its slot");

  struct Slot {
    // Written by the appender before it publishes the slot. May be read while the segment is being
    // written again (invariant 5), so they are atomic. Acquire and release pair with each other,
    // for a reader that asks by a load whether the head is still there. The segment's former run
    // passed it on before it is written again. Without the pair the reader could see what was
    // written now and yet the old head.
    ActiveEntry Load() const { return {0, LoadAcquire(timestamp_ns_), LoadAcquire(ticket_)}; }
    int64_t LoadTimestamp() const { return LoadAcquire(timestamp_ns_); }
    void Store(const ActiveEntry& entry) {
      StoreRelease(timestamp_ns_, entry.timestamp_ns);
      StoreRelease(ticket_, entry.ticket);
    }
    // Relaxed: a hint.
    uint64_t TicketHint() const { return LoadRelaxed(ticket_); }

   private:
    Atom<int64_t> timestamp_ns_{0};
    Atom<uint64_t> ticket_{0};
  };

  Atom<uint64_t>& FreeLink() { return free_link_; }
  Slot& SlotAt(uint64_t position) { return slots_[position % kEntries]; }
  static bool IsLast(uint64_t position) { return position % kEntries == kEntries - 1; }

  // Relaxed: published with the tail, like the slots.
  uint32_t LoadNext() const { return LoadRelaxed(next_); }
  void StoreNext(uint32_t next) { StoreRelaxed(next_, next); }

 private:
  Atom<uint64_t> free_link_{0};
  Atom<uint32_t> next_{0};
  std::array<Slot, kEntries> slots_;
};

// kFull: no segment is left.
enum class AppendOutcome { kAppended, kBusy, kTooOld, kFull };

template <template <typename> class Atom, uint32_t kEntries>
class SortedRun {
 public:
  using Segment = RunSegment<Atom, kEntries>;
  using Pool = IndexPool<Segment, Atom>;

  // What a consumer saw: the two counts, read head first. If they are equal, the run was empty when
  // the tail was read, and it stays so as long as the tail stays.
  struct View {
    uint64_t head = 0;
    uint64_t tail = 0;
    uint64_t Position() const { return PositionIn(head); }
    bool IsEmpty() const { return PositionIn(head) == (tail >> 1 & kPositionMask); }
    uint64_t Size() const { return ((tail >> 1) - PositionIn(head)) & kPositionMask; }
  };

  View Look() const {
    View view;
    view.head = head_.load();
    view.tail = tail_.load();
    return view;
  }
  const Atom<uint64_t>& head_word() const { return head_; }
  const Atom<uint64_t>& tail_word() const { return tail_; }

  // The next entry's timestamp, true if the head is still the view's.
  int64_t TimestampAt(const Pool& pool, const View& view) const {
    return SlotIn(pool, view).LoadTimestamp();
  }

  // Reads the `count` entries at the head, but for their priority. True only if they still are what
  // the view has seen, which an exchange of the head or a collect finds out.
  static void ReadMany(const Pool& pool, const View& view, ActiveEntry* entries, size_t count) {
    const uint64_t position = PositionIn(view.head);
    Segment& segment = pool[SegmentIn(view.head)];
    for (size_t i = 0; i < count; ++i) entries[i] = segment.SlotAt(position + i).Load();
  }

  // Takes the `count` entries at the head of a view out of the run, all together; false if another
  // thread took any. Linearization point of success: the exchange, or any instant before it at
  // which the caller knows that the head was the view's.
  bool TryDropMany(Pool& pool, const View& view, size_t count) {
    const uint64_t position = PositionIn(view.head);
    const uint32_t segment = SegmentIn(view.head);
    const bool is_last = Segment::IsLast(position + count - 1);
    const uint32_t next = is_last ? pool[segment].LoadNext() : segment;
    if (!ExchangeHead(view, HeadOf(position + count, next))) return false;
    if (is_last) pool.Free(segment);
    return true;
  }
  // Reads the `count` entries at the head, and takes none. False: they may be anything, because the
  // head has moved on.
  bool TryPeekMany(const Pool& pool, const View& view, ActiveEntry* seen, size_t count) {
    ReadMany(pool, view, seen, count);
    return head_.load() == view.head;
  }
  // How many of the view's entries may be taken at once: they lie in one segment.
  static size_t TakeableIn(const View& view, size_t count_max) {
    return std::min({count_max, static_cast<size_t>(view.Size()),
                     static_cast<size_t>(kEntries - view.Position() % kEntries)});
  }

  // The ticket some positions behind the view's head, of the same segment; 0 if that has ended. It
  // may be one that was not appended yet or is long gone: a hint.
  uint64_t TicketAhead(const Pool& pool, const View& view, uint32_t distance) const {
    const uint64_t position = view.Position();
    if (position % kEntries + distance >= kEntries) return 0;
    return pool[SegmentIn(view.head)].SlotAt(position + distance).TicketHint();
  }

  // Appends `count` entries of rising timestamps, all visible at once. Linearization point: the
  // store of the tail.
  AppendOutcome TryAppend(Pool& pool, const ActiveEntry* entries, size_t count) {
    uint64_t tail = LoadTail();
    if ((tail & kBusy) != 0) return AppendOutcome::kBusy;
    // If the tail is still the same at the exchange below, both answers still hold there: the last
    // timestamp changes only under kBusy, and an empty run stays empty.
    if (entries[0].timestamp_ns < LoadRelaxed(last_timestamp_ns_) &&
        !View{head_.load(), tail}.IsEmpty()) {
      return AppendOutcome::kTooOld;
    }
    if (!BeginAppend(tail)) return AppendOutcome::kBusy;
    if (!Write(pool, tail >> 1, entries, count)) {
      WithdrawAppend(tail);
      return AppendOutcome::kFull;
    }
    StoreRelaxed(last_timestamp_ns_, entries[count - 1].timestamp_ns);
    tail_.store(((tail >> 1) + count) << 1);
    return AppendOutcome::kAppended;
  }

  // Whether nothing was appended since the last call, and the run is empty. A hint.
  bool WasIdle() {
    const View view = Look();
    const uint64_t last_look = LoadRelaxed(tail_at_last_look_);
    if (last_look != view.tail) StoreRelaxed(tail_at_last_look_, view.tail);
    return last_look == view.tail && view.IsEmpty();
  }

 private:
  static constexpr uint64_t kBusy = 1;
  // A head is, from bit 0: an unused bit, the position (it wraps), the segment.
  static constexpr uint32_t kPositionBits = 42;
  static constexpr uint64_t kPositionMask = (uint64_t{1} << kPositionBits) - 1;
  static constexpr uint32_t kSegmentShift = 1 + kPositionBits;

 public:
  // A pool of segments gives numbers below this.
  static constexpr uint32_t kSegmentsMax = uint32_t{1} << (64 - kSegmentShift);

 private:
  static uint64_t PositionIn(uint64_t head) { return head >> 1 & kPositionMask; }
  static uint32_t SegmentIn(uint64_t head) { return static_cast<uint32_t>(head >> kSegmentShift); }
  static uint64_t HeadOf(uint64_t position, uint32_t segment) {
    return (position & kPositionMask) << 1 | uint64_t{segment} << kSegmentShift;
  }
  static auto& SlotIn(const Pool& pool, const View& view) {
    return pool[SegmentIn(view.head)].SlotAt(PositionIn(view.head));
  }

  // seq_cst, which includes the release that ReadMany's loads need: they must not sink below the
  // exchange that lets the slots be written again.
  bool ExchangeHead(const View& view, uint64_t after) {
    uint64_t expected = view.head;
    return head_.compare_exchange_strong(expected, after);
  }

  // Acquire pairs with the publishing store: without it the last timestamp and the tail's segment
  // could be older ones.
  uint64_t LoadTail() const { return LoadAcquire(tail_); }
  // Acquire pairs with WithdrawAppend, after which the tail is again what another thread has read:
  // without it the tail's segment could be an older one.
  bool BeginAppend(uint64_t tail) {
    return tail_.compare_exchange_strong(tail, tail | kBusy, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  // Release pairs with BeginAppend: see there.
  void WithdrawAppend(uint64_t tail) { StoreRelease(tail_, tail); }

  // False: no segment is left, and what was linked for this append is given back.
  bool Write(Pool& pool, uint64_t position, const ActiveEntry* entries, size_t count) {
    Segment* segment = tail_segment_.Read();
    if (segment == nullptr) {
      const uint32_t first = pool.TryAllocate();
      if (first == Pool::kNone) return false;
      segment = &pool[first];
      tail_segment_.Write(segment);
      // No thread takes from a run before its first publication, so the head is the appender's
      // here.
      head_.store(HeadOf(0, first));
    }
    Segment* const before = segment;
    for (size_t i = 0; i < count; ++i, ++position) {
      segment->SlotAt(position).Store(entries[i]);
      if (!Segment::IsLast(position)) continue;
      const uint32_t next = pool.TryAllocate();
      if (next == Pool::kNone) {
        Unlink(pool, before, segment);
        return false;
      }
      segment->StoreNext(next);
      segment = &pool[next];
      tail_segment_.Write(segment);
    }
    return true;
  }

  // Gives back the segments behind `before` through `last`, which only the appender knows.
  [[gnu::noinline, gnu::cold]] void Unlink(Pool& pool, Segment* before, const Segment* last) {
    uint32_t number = before->LoadNext();
    for (bool is_last = before == last; !is_last;) {
      const Segment& segment = pool[number];
      const uint32_t next = segment.LoadNext();
      is_last = &segment == last;
      pool.Free(number);
      number = next;
    }
    tail_segment_.Write(before);
  }

  // All on one line: most threads push and pop in turn, and then one transfer of the line serves
  // both. Written by consumers; read by all.
  alignas(64) Atom<uint64_t> head_{0};
  // Written by appenders; read by all.
  Atom<uint64_t> tail_{0};
  // Written by the appender; read by threads that append, stale only if their exchange fails.
  Atom<int64_t> last_timestamp_ns_{0};
  // The segment that the next entry goes to; nullptr before the first. The appender's own.
  typename Seam<Atom>::template Plain<Segment*> tail_segment_;
  // Written by WasIdle; a hint.
  Atom<uint64_t> tail_at_last_look_{0};
};

}  // namespace schedq
