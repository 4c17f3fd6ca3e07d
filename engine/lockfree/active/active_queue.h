// The active queue: a strict, linearizable, lock-free priority queue, many producers and consumers.
//
// Purpose: what may be scheduled now, highest priority first, then oldest timestamp. A pop returns
// an entry such that none that goes before it was there at the pop's linearization point.
// When not to use it: to remove one entry that is not first. What it holds are tickets; the owner
// drops those that have become stale, or has them dropped (DropStale). To sleep until something
// comes, see event_count.h.
// Threads: all operations from any thread.
//
// How it works. Each of the first few priorities has a lane (lane.h) of sorted runs, so that both
// push and pop are O(1) for arrivals in nearly sorted order. What has no lane, or comes too
// unsorted for its lane, goes to a heap (quick_heap.h). A word says which lanes, and whether the
// heap, may hold something.
//
// Invariants:
//  1. An entry is in one place: a run of its priority's lane, or the heap.
//  2. Among the entries of a run, and of the heap, one is known to go first (their headers say
//  how).
//  3. A lane, a run, or the heap that holds an entry whose push has returned is in the occupancies.
//
// Progress: Push, PushRun and TryPop are lock-free. Threads that meet may wait for each other for
// some 20 us (turns.h), never for longer. A pop repeats only if a word of its collect
// changed, which is a push or a pop of another thread that came closer to its end, or a lane or run
// that came into use or out of it. A producer that stalls inside a run keeps other producers out of
// that run, not out of the lane; consumers treat what it has not published as not pushed.
//
// Linearization. A push of an entry is *visible* once it is published (the store of its run's tail,
// or the exchange in the heap) and its place is in the occupancies. It linearizes there, or just
// before the pop that returns it, if some pop finds it in between; at the latest when it returns.
// A pop collects words from the best lane downwards: the occupancies, the tail of each run that it
// found empty, the head of each other run, the heap's root and front. Then it reads them all again.
// If none has changed, let t be an instant between the two collects. At t
//   - nothing visible was in a lane that the occupancy did not name, nor in a run that its lane's
//     occupancy did not name: the words held their values at t, and a visible entry's place is
//     named;
//   - runs found empty were empty, since the tail counts publications and had not moved, and the
//     head cannot pass the tail;
//   - every other run still had the head that was read, and the entries behind a head do not go
//     before it, as a run is sorted (also an append after t cannot be older than the head, while
//     the head is there);
//   - the heap's front said what goes first in the heap.
// So at t no visible entry went before the chosen one. If there was none at all, the pop returns
// nothing and linearizes at t. Otherwise it claims the chosen entry by an exchange that succeeds
// only if the entry was in its place from the first collect on. It linearizes at t, and not at the
// exchange: better entries may have come in between. From t to the exchange other threads still see
// the entry, which does no harm: a pop that chooses it loses the exchange or wins it, a pop that
// chooses a better one is right either way, and none can choose a worse one or report emptiness,
// since for that its own collect would have to miss an entry that is visible all the time.
// A pop that claims without the second collect is the classic error: A, visible before B, can be
// missed by a scan that passed A's lane before A came and then meets B.
//
// DropStale pushes what stays, and then takes away the old entries all at once or not at all. So a
// ticket may be there twice, and each of the two may be popped: to the owner the second is stale.
//
// Memory: the runs' segments, as many as were ever in use at one time (16 bytes an entry and one
// segment of kSegmentEntries for each run that was ever used), which queues may share; the heap's
// parts likewise (32 bytes a slot). They are used again and go back at the end. In steady state no
// operation allocates. A stalled thread holds back no segment, and at most the heap's parts of its
// time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/index_pool.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/double_collect.h"
#include "engine/lockfree/active/lane.h"
#include "engine/lockfree/active/lane_directory.h"
#include "engine/lockfree/active/occupancy_word.h"
#include "engine/lockfree/active/quick_heap.h"
#include "engine/lockfree/active/sorted_run.h"
#include "engine/lockfree/active/turns.h"

namespace schedq {

// The queue's dimensions; models use smaller ones, to meet the borders sooner.
struct ActiveQueueShape {
  static constexpr uint32_t kSegmentEntries = 128;
  static constexpr uint32_t kRunsPerLane = 16;
  static constexpr uint32_t kLanesAtOnce = 8;
  static constexpr uint32_t kLanesMax = 32;
  static constexpr uint32_t kBucketEntries = 1024;
  static constexpr uint32_t kBagEntries = 12;
  // What the heap's directory has room for at first, and restructurings of it at one time.
  static constexpr uint32_t kRangesMin = 8;
  static constexpr uint32_t kHeapRootsMax = 1 << 16;
  // Of all runs that share their memory. Entries beyond it go to the heap.
  static constexpr uint32_t kSegmentsMax = 1 << 21;
  static constexpr uint32_t kFirstSegmentsBits = 6;
  // How often, counted in pops from one place, idle lanes and runs are looked for.
  static constexpr uint32_t kPopsPerSweep = 64;
  // Whether threads that meet take turns.
  static constexpr bool kTakesTurns = true;
};

// What a taker says about the entry that goes first: take it, leave it there, or drop it, because
// its owner does not want it any more.
enum class Consent : uint8_t { kTake, kLeave, kDrop };

// What became of the entry that went first.
enum class Taking : uint8_t { kTaken, kLeft, kDropped, kEmpty };

// A taker (ActiveQueue::TryTake) that takes the entry itself: the thread that drops it has it.
struct TakesEntry {
  static constexpr bool kDropsToTake = true;
  static constexpr uint32_t kAhead = 0;
  Consent Ask(const ActiveEntry& first) {
    entry = first;
    return Consent::kTake;
  }
  bool Claim() { return true; }

  ActiveEntry entry;
};

template <template <typename> class Atom = std::atomic, typename Shape = ActiveQueueShape,
          template <template <typename> class, uint32_t> class CollectOf = DoubleCollect>
class ActiveQueue {
 public:
  using Segments = IndexPool<RunSegment<Atom, Shape::kSegmentEntries>, Atom>;

  ActiveQueue() : own_segments_(std::in_place, Shape::kFirstSegmentsBits, Shape::kSegmentsMax) {}
  // Takes its runs' memory from `segments`, which outlives it and serves other queues too.
  explicit ActiveQueue(Segments& segments) : segments_(segments) {}
  ActiveQueue(const ActiveQueue&) = delete;
  ActiveQueue& operator=(const ActiveQueue&) = delete;

  // Lock-free. Linearization point: see above; it never fails.
  void Push(const ActiveEntry& entry) {
    const typename Turns::Turn turn(turns_);
    PushGroup(&entry, 1);
  }

  // Pushes entries that are sorted (GoesBefore). Those of one priority become visible all at once
  // if a run takes them; the call as a whole is not atomic. Lock-free.
  void PushRun(const ActiveEntry* entries, size_t count) {
    while (count > 0) {
      size_t group = 1;
      while (group < count && entries[group].priority == entries[0].priority) ++group;
      PushGroup(entries, group);
      entries += group;
      count -= group;
    }
  }

  // The entry that goes first, or nothing if the queue is empty. Lock-free.
  std::optional<ActiveEntry> TryPop() {
    TakesEntry taker;
    return TryTake(taker) == Taking::kTaken ? std::optional(taker.entry) : std::nullopt;
  }

  // Lets `taker` take what the entry that goes first stands for; an entry is only where that is
  // found. So a thread that is stopped has either taken it or left it to be found.
  //   Consent Ask(entry)  about an entry that may have gone first. Asked again if another thread
  //                       changes the queue.
  //   bool Claim()        after kTake: the entry went first at an instant between Ask and now.
  //   Takes
  //                       what it stands for; false: it has changed since Ask. An entry whose claim
  //                       succeeded must be to drop for every taker from then on.
  //   PrefetchAhead(further, near)  the tickets that will probably be taken kAhead and half as many
  //                       takes later. Either may be any ticket, or 0. Not called if kAhead is 0.
  // Neither may use this queue. Lock-free if they are. kTaken and kEmpty linearize at that instant.
  template <typename Taker>
  Taking TryTake(Taker& taker) {
    const Taken taken = TryUntilDone(taker);
    if (taken.is_sweep_due) Sweep();
    switch (taken.outcome) {
      case Outcome::kTaken:
        return Taking::kTaken;
      case Outcome::kLeft:
        return Taking::kLeft;
      case Outcome::kDropped:
        return Taking::kDropped;
      default:
        return Taking::kEmpty;
    }
  }

  // Shows `move(std::span<ActiveEntry>)` entries that go first: of one priority, in their order, at
  // most as many as `room` holds, and each `is_due(entry)`. It takes what they stand for, where
  // that is found, and then they are dropped; if another thread takes some of them meanwhile, they
  // stay and are shown again. Returns how many were shown; 0: at one instant the first was not due,
  // or there was none. Lock-free if `move` is, which may use any other queue.
  template <typename IsDue, typename Move>
  size_t MoveFirst(std::span<ActiveEntry> room, const IsDue& is_due, const Move& move) {
    Finder<IsDue> finder{room, is_due};
    Taken taken = {Outcome::kChanged};
    while (taken.outcome == Outcome::kChanged) taken = TryOnce(finder);
    if (taken.outcome != Outcome::kTaken) return 0;
    move(room.first(finder.count));
    if (finder.head.run == nullptr) {
      DropFromHeap(room[0].ticket);
    } else {
      finder.head.run->TryDropMany(segments_, finder.head.view, finder.count);
    }
    if (taken.is_sweep_due) Sweep();
    return finder.count;
  }

  // Drops entries of which `is_stale(ticket)` says that their owner does not want them and never
  // will: among the first of one run, or in a bucket of the heap. `chance`, evenly drawn, chooses
  // which. Others may be there twice from then on: a taker that meets a ticket again must take it
  // for stale. Lock-free. No pop misses an entry: those that stay are pushed anew before they are
  // dropped. Returns how many entries were looked at.
  template <typename IsStale>
  uint64_t DropStale(uint64_t chance, const IsStale& is_stale) {
    // As if its buckets were full: to count what they hold would take a look at each.
    const uint64_t in_heap = heap_.BucketCount() * Shape::kBucketEntries;
    uint64_t size = in_heap;
    for (const auto& place : lanes_.Current()) size += place.lane->Size();
    if (size == 0) return 0;
    uint64_t before = chance % size;
    if (before < in_heap) return heap_.DropStale(before / Shape::kBucketEntries, is_stale);
    before -= in_heap;
    for (const auto& place : lanes_.Current()) {
      typename Lane::Run* const run = place.lane->RunAt(&before);
      if (run != nullptr) return DropStaleOf(*run, place.lane->priority(), is_stale);
    }
    return 0;
  }
  // How many entries of a run DropStale looks at, at most.
  static constexpr uint32_t kDropMax = Shape::kSegmentEntries;

  // How many entries there are. Not a snapshot: it may be off by what is pushed and popped
  // meanwhile. Wait-free but for the heap's part, which is lock-free.
  uint64_t Size() const {
    uint64_t size = heap_.Size();
    for (const auto& place : lanes_.Current()) size += place.lane->Size();
    return size;
  }

 private:
  using Lane = schedq::Lane<Atom, Shape::kRunsPerLane, Shape::kSegmentEntries>;
  using Heap = QuickHeap<Atom, Shape>;
  using Turns = schedq::Turns<Atom, Shape::kTakesTurns>;
  using Head = typename Lane::Head;
  static_assert(Shape::kSegmentsMax <= Lane::Run::kSegmentsMax, "a head has bits for each segment");
  static constexpr uint32_t kHeapMember = Shape::kLanesMax;
  static_assert(kHeapMember < OccupancyWord<Atom>::kMembersMax, "lanes and heap are members");
  using Collect = CollectOf<Atom, 2 + Shape::kLanesMax * Lane::kWords + Heap::kWords>;

  enum class Outcome : uint8_t { kTaken, kLeft, kDropped, kEmpty, kChanged };
  struct Taken {
    Outcome outcome;
    bool is_sweep_due = false;
  };

  // Finds the entries that go first, and takes none.
  template <typename IsDue>
  struct Finder {
    std::span<ActiveEntry> room;
    const IsDue& is_due;
    size_t count = 0;
    Head head{};  // Without a run: it was in the heap.
  };

  // Entries of one priority and rising timestamps.
  void PushGroup(const ActiveEntry* entries, size_t count) {
    auto place = lanes_.Current().Find(entries->priority);
    if (place.lane == nullptr) place = lanes_.FindOrAdmit(entries->priority, count);
    switch (place.lane == nullptr ? Lane::Place::kNone
                                  : place.lane->Append(segments_, entries, count)) {
      case Lane::Place::kMain:
        return in_use_.Mark(place.number);
      case Lane::Place::kFurther:
        return further_in_use_.Mark(place.number);
      case Lane::Place::kNone:
        for (size_t i = 0; i < count; ++i) heap_.Push(entries[i]);
        return in_use_.Mark(kHeapMember);
    }
  }

  template <typename Taker>
  Taken TryUntilDone(Taker& taker) {
    typename Turns::Turn turn(turns_);
    Taken taken = TryOnce(taker);
    while (taken.outcome == Outcome::kChanged) {
      turn.Met();
      taken = TryOnce(taker);
    }
    return taken;
  }

  template <typename Taker>
  Taken TryOnce(Taker& taker) {
    Collect collect;
    const uint64_t in_use = CollectMembers(in_use_, collect);
    const uint64_t further_in_use = CollectMembers(further_in_use_, collect);
    const bool is_heap_in_use = (in_use >> kHeapMember & 1) != 0;
    if (further_in_use == 0 && !is_heap_in_use) return TryMains(in_use, collect, taker);
    const Head head = CollectBest(in_use, further_in_use, collect);
    if (is_heap_in_use) return TryBoth(head, collect, taker);
    return head.run == nullptr ? Nothing(collect) : TakeFromRun(head, collect, taker);
  }

  // The common case: main runs are all that is in use, so the first that is not empty decides.
  template <typename Taker>
  Taken TryMains(uint64_t in_use, Collect& collect, Taker& taker) {
    // The words were read before the directory is: lanes that they name are in there.
    for (const auto& place : lanes_.Current()) {
      if ((in_use >> place.number & 1) == 0) continue;
      auto& run = place.lane->main();
      const auto view = run.Look();
      if (!view.IsEmpty()) {
        return TakeFromRun(Head{&run, view, 0, place.lane->priority(), true}, collect, taker);
      }
      collect.Add(run.tail_word(), view.tail);
    }
    return Nothing(collect);
  }

  static Taken Nothing(const Collect& collect) {
    return {collect.StillHolds() ? Outcome::kEmpty : Outcome::kChanged};
  }

  static uint64_t CollectMembers(const OccupancyWord<Atom>& occupancy, Collect& collect) {
    const uint64_t word = occupancy.Load();
    collect.Add(occupancy.word(), word);
    return OccupancyWord<Atom>::MembersIn(word);
  }

  // The best lane's oldest head, or no run. Lanes below it are not looked at.
  Head CollectBest(uint64_t in_use, uint64_t further_in_use, Collect& collect) {
    // Where priorities are random, lanes are rarely in use.
    if (((in_use | further_in_use) & ~(uint64_t{1} << kHeapMember)) == 0) return {};
    for (const auto& place : lanes_.Current()) {
      Head head;
      if ((in_use >> place.number & 1) != 0) place.lane->CollectMain(segments_, collect, head);
      if ((further_in_use >> place.number & 1) != 0) {
        place.lane->CollectFurther(segments_, collect, head);
      }
      if (head.run == nullptr) continue;
      head.priority = place.lane->priority();
      return head;
    }
    return {};
  }

  template <typename Taker>
  Taken TryBoth(const Head& head, Collect& collect, Taker& taker) {
    const typename Heap::Session session(heap_);
    const typename Heap::Peeked peeked = heap_.Peek();
    const bool is_heap_first =
        !peeked.is_empty && (head.run == nullptr || !GoesBefore(head.Key(), peeked.first.entry));
    if (is_heap_first) {
      if (head.run != nullptr) collect.Add(head.run->head_word(), head.view.head);
      return TakeFromHeap(peeked, collect, taker);
    }
    heap_.AddTo(collect, peeked);
    return head.run == nullptr ? Nothing(collect) : TakeFromRun(head, collect, taker);
  }

  // What is read of the entry is true if the head stays: the collect or the exchange finds out.
  template <typename Taker>
  Taken TakeFromRun(const Head& head, Collect& collect, Taker& taker) {
    // Where the exchange is the claim, it proves what is read: the collect need not wait for that.
    if (Taker::kDropsToTake && !collect.StillHolds()) return {Outcome::kChanged};
    ActiveEntry entry;
    head.run->ReadMany(segments_, head.view, &entry, 1);
    entry.priority = head.priority;
    const Consent consent = taker.Ask(entry);
    const auto drop = [&] { return head.run->TryDropMany(segments_, head.view, 1); };
    if (consent == Consent::kDrop) return {drop() ? Outcome::kDropped : Outcome::kChanged};
    const bool is_taken_by_drop = Taker::kDropsToTake && consent == Consent::kTake;
    if (!is_taken_by_drop) {
      collect.Add(head.run->head_word(), head.view.head);
      if (!collect.StillHolds()) return {Outcome::kChanged};
    }
    if (consent == Consent::kLeave) return {Outcome::kLeft};
    if (!taker.Claim()) return {Outcome::kChanged};
    // If another thread drops it first, it has found that it is taken.
    if (!drop() && is_taken_by_drop) return {Outcome::kChanged};
    if constexpr (Taker::kAhead > 0) {
      taker.PrefetchAhead(head.run->TicketAhead(segments_, head.view, Taker::kAhead),
                          head.run->TicketAhead(segments_, head.view, Taker::kAhead / 2));
    }
    return TakenAsNumber(head.view.Position());
  }

  template <typename Taker>
  Taken TakeFromHeap(const typename Heap::Peeked& peeked, Collect& collect, Taker& taker) {
    const Consent consent = taker.Ask(peeked.first.entry);
    if (consent == Consent::kDrop) {
      return {heap_.TryTake(peeked) ? Outcome::kDropped : Outcome::kChanged};
    }
    const bool is_taken_by_drop = Taker::kDropsToTake && consent == Consent::kTake;
    if (!is_taken_by_drop) heap_.AddTo(collect, peeked);
    if (!collect.StillHolds()) return {Outcome::kChanged};
    if (consent == Consent::kLeave) return {Outcome::kLeft};
    if (!taker.Claim()) return {Outcome::kChanged};
    if (!heap_.TryTake(peeked) && is_taken_by_drop) return {Outcome::kChanged};
    return TakenAsNumber(Heap::Front::ChangesIn(peeked.word));
  }

  // As many as the run's segment shows, if other runs are empty: all of them were there at the
  // instant that the collect is about, and nothing that goes before them.
  template <typename IsDue>
  Taken TakeFromRun(const Head& head, Collect& collect, Finder<IsDue>& finder) {
    const size_t count =
        head.is_alone ? Lane::Run::TakeableIn(head.view, finder.room.size()) : size_t{1};
    head.run->ReadMany(segments_, head.view, finder.room.data(), count);
    collect.Add(head.run->head_word(), head.view.head);
    if (!collect.StillHolds()) return {Outcome::kChanged};
    finder.count = 0;
    while (finder.count < count && finder.is_due(finder.room[finder.count])) {
      finder.room[finder.count++].priority = head.priority;
    }
    finder.head = head;
    const uint64_t first = head.view.Position();
    const bool is_sweep_due =
        first / Shape::kPopsPerSweep != (first + finder.count) / Shape::kPopsPerSweep;
    return {finder.count > 0 ? Outcome::kTaken : Outcome::kLeft, is_sweep_due};
  }

  template <typename IsDue>
  Taken TakeFromHeap(const typename Heap::Peeked& peeked, Collect& collect, Finder<IsDue>& finder) {
    heap_.AddTo(collect, peeked);
    if (!collect.StillHolds()) return {Outcome::kChanged};
    finder.room[0] = peeked.first.entry;
    finder.count = 1;
    finder.head = Head{};
    if (!finder.is_due(finder.room[0])) return {Outcome::kLeft};
    return TakenAsNumber(Heap::Front::ChangesIn(peeked.word));
  }

  // If it still goes first there; else the next pop that meets it drops it.
  void DropFromHeap(uint64_t ticket) {
    const typename Heap::Session session(heap_);
    const typename Heap::Peeked peeked = heap_.Peek();
    if (!peeked.is_empty && peeked.first.entry.ticket == ticket) heap_.TryTake(peeked);
  }

  template <typename IsStale>
  uint64_t DropStaleOf(typename Lane::Run& run, int32_t priority, const IsStale& is_stale) {
    const auto view = run.Look();
    const size_t count = view.IsEmpty() ? 0 : Lane::Run::TakeableIn(view, kDropMax);
    std::array<ActiveEntry, kDropMax> entries;
    if (count == 0 || !run.TryPeekMany(segments_, view, entries.data(), count)) return 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
      if (is_stale(entries[i].ticket)) continue;
      entries[kept] = entries[i];
      entries[kept++].priority = priority;
    }
    // If another thread takes the first of them meanwhile, the run keeps all the others too.
    if (kept > 0) PushGroup(entries.data(), kept);
    run.TryDropMany(segments_, view, count);
    return count;
  }

  static Taken TakenAsNumber(uint64_t number) {
    return {Outcome::kTaken, (number + 1) % Shape::kPopsPerSweep == 0};
  }

  // Takes out of the occupancies what was idle since the last sweep.
  void Sweep() {
    for (const auto& place : lanes_.Current()) {
      Lane& lane = *place.lane;
      const auto is_main_empty = [&lane] { return lane.main().Look().IsEmpty(); };
      const auto has_no_further = [&lane] { return lane.HasNoFurtherInUse(); };
      if (lane.main().WasIdle()) in_use_.Clear(place.number, is_main_empty);
      lane.SweepFurther();
      if (has_no_further()) further_in_use_.Clear(place.number, has_no_further);
    }
    SweepHeap();
  }

  void SweepHeap() {
    if ((OccupancyWord<Atom>::MembersIn(in_use_.Load()) >> kHeapMember & 1) == 0) return;
    const auto is_empty = [this] {
      const typename Heap::Session session(heap_);
      return heap_.Peek().is_empty;
    };
    if (is_empty()) in_use_.Clear(kHeapMember, is_empty);
  }

  std::optional<Segments> own_segments_;
  Segments& segments_ = *own_segments_;
  LaneDirectory<Atom, Lane, Shape::kLanesAtOnce, Shape::kLanesMax> lanes_;
  // Which lanes' main runs, and whether the heap, may hold something; and which lanes' further
  // runs. Read by each operation, written when one of them comes into use or out of it; so they
  // have a line without busy neighbours.
  alignas(64) OccupancyWord<Atom> in_use_;
  OccupancyWord<Atom> further_in_use_;
  [[no_unique_address]] Turns turns_;
  Heap heap_;
};

}  // namespace schedq
