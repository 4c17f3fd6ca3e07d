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
// Progress: Push, PushRun and TryPop are lock-free. A pop repeats only if a word of its collect
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
// the entry, which hurts nobody: a pop that chooses it loses the exchange or wins it, a pop that
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
#include <utility>

#include "engine/base/index_pool.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/double_collect.h"
#include "engine/lockfree/active/lane.h"
#include "engine/lockfree/active/lane_directory.h"
#include "engine/lockfree/active/occupancy_word.h"
#include "engine/lockfree/active/quick_heap.h"
#include "engine/lockfree/active/sorted_run.h"

namespace schedq {

// The queue's dimensions; models use smaller ones, to meet the borders sooner.
struct ActiveQueueShape {
  static constexpr uint32_t kSegmentEntries = 128;
  static constexpr uint32_t kRunsPerLane = 16;
  static constexpr uint32_t kLanesAtOnce = 8;
  static constexpr uint32_t kLanesMax = 32;
  static constexpr uint32_t kBucketEntries = 1024;
  static constexpr uint32_t kBagEntries = 12;
  static constexpr uint32_t kBuckets = 1 << 18;
  static constexpr uint32_t kFirstSegmentsBits = 6;
  // How often, counted in pops from one place, idle lanes and runs are looked for.
  static constexpr uint32_t kPopsPerSweep = 64;
};

// What a pop is told when it asks whether to take an entry.
enum class Consent : uint8_t { kTake, kLeave };

template <template <typename> class Atom = std::atomic, typename Shape = ActiveQueueShape,
          template <template <typename> class, uint32_t> class CollectOf = DoubleCollect>
class ActiveQueue {
 public:
  using Segments = IndexPool<RunSegment<Atom, Shape::kSegmentEntries>, Atom>;

  ActiveQueue() : own_segments_(std::in_place, Shape::kFirstSegmentsBits) {}
  // Takes its runs' memory from `segments`, which outlives it and serves other queues too.
  explicit ActiveQueue(Segments& segments) : segments_(segments) {}
  ActiveQueue(const ActiveQueue&) = delete;
  ActiveQueue& operator=(const ActiveQueue&) = delete;

  // Lock-free. Linearization point: see above; it never fails.
  void Push(const ActiveEntry& entry) { PushGroup(&entry, 1); }

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
    return TryPopIf([](const ActiveEntry&) { return Consent::kTake; });
  }

  // As TryPop; calls `warm(further, near)` with the tickets that will probably be popped `kAhead`
  // and half as many pops later. Either may be any ticket, or 0. Not at all if kAhead is 0.
  template <uint32_t kAhead, typename Warm>
  std::optional<ActiveEntry> TryPopAhead(Warm warm) {
    const auto take = [](const ActiveEntry&) { return Consent::kTake; };
    if constexpr (kAhead == 0) {
      return TryPopIf(take);
    } else {
      return TryPopWith(take, [&](const Head& head) {
        warm(head.run->TicketAhead(segments_, head.view, kAhead),
             head.run->TicketAhead(segments_, head.view, kAhead / 2));
      });
    }
  }

  // As TryPop, but asks `consent(entry)` about the entry that goes first, whose ticket is not known
  // yet; nothing also if it says to leave it. It is asked again if another thread changes the
  // queue.
  // A pop that takes linearizes where it was asked last.
  template <typename Ask>
  std::optional<ActiveEntry> TryPopIf(Ask consent) {
    return TryPopWith(consent, [](const Head&) {});
  }

  // As up to `count_max` calls of TryPop at one instant: entries of one priority. Returns how many;
  // 0: the queue is empty.
  size_t TryPopMany(ActiveEntry* taken, size_t count_max) {
    size_t count = 0;
    PopOutcome outcome = PopOutcome::kChanged;
    while (outcome == PopOutcome::kChanged) outcome = TryPopManyOnce(taken, count_max, count);
    if (outcome == PopOutcome::kTakenSweepDue) Sweep();
    return count;
  }

  // Drops entries of which `is_stale(ticket)` says that nobody wants them and never will: among the
  // first of one run, or in a bucket of the heap. `chance`, evenly drawn, chooses which. Others may
  // be there twice from then on: who pops a ticket for the second time must take it for stale.
  // Lock-free. No pop misses an entry: those that stay are pushed anew before they are dropped.
  // Returns how many entries were looked at.
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
  // `on_taken(head)` is called after an entry was taken from the head of a run.
  template <typename Ask, typename OnTaken>
  std::optional<ActiveEntry> TryPopWith(Ask consent, OnTaken on_taken) {
    std::optional<ActiveEntry> taken(std::in_place);
    PopOutcome outcome = PopOutcome::kChanged;
    while (outcome == PopOutcome::kChanged) outcome = TryPopOnce(*taken, consent, on_taken);
    if (outcome == PopOutcome::kTakenSweepDue) Sweep();
    if (outcome == PopOutcome::kEmpty || outcome == PopOutcome::kLeft) taken.reset();
    return taken;
  }

  using Lane = schedq::Lane<Atom, Shape::kRunsPerLane, Shape::kSegmentEntries>;
  using Heap = QuickHeap<Atom, Shape>;
  using Head = typename Lane::Head;
  static constexpr uint32_t kHeapMember = Shape::kLanesMax;
  static_assert(kHeapMember < OccupancyWord<Atom>::kMembersMax, "lanes and heap are members");
  using Collect = CollectOf<Atom, 2 + Shape::kLanesMax * Lane::kWords + Heap::kWords>;

  enum class PopOutcome { kTaken, kTakenSweepDue, kEmpty, kLeft, kChanged };

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

  template <typename Ask, typename OnTaken>
  PopOutcome TryPopOnce(ActiveEntry& taken, const Ask& consent, const OnTaken& on_taken) {
    Collect collect;
    const uint64_t in_use = CollectMembers(in_use_, collect);
    const uint64_t further_in_use = CollectMembers(further_in_use_, collect);
    const bool is_heap_in_use = (in_use >> kHeapMember & 1) != 0;
    if (further_in_use == 0 && !is_heap_in_use) {
      return TryPopOfMains(in_use, collect, [&](const Head& head) {
        return TakeFromRun(head, taken, consent, on_taken);
      });
    }
    const Head head = CollectBest(in_use, further_in_use, collect);
    if (is_heap_in_use) return TryPopOfBoth(head, collect, taken, consent, on_taken);
    if (!collect.StillHolds()) return PopOutcome::kChanged;
    return head.run == nullptr ? PopOutcome::kEmpty : TakeFromRun(head, taken, consent, on_taken);
  }

  // Several from a main run, or one from wherever it is. All of a run's entries that its view shows
  // were there at the instant that the collect is about, and nothing that goes before them.
  PopOutcome TryPopManyOnce(ActiveEntry* taken, size_t count_max, size_t& count) {
    count = 0;
    Collect collect;
    const uint64_t in_use = CollectMembers(in_use_, collect);
    const uint64_t further_in_use = CollectMembers(further_in_use_, collect);
    if (further_in_use == 0 && (in_use >> kHeapMember & 1) == 0) {
      return TryPopOfMains(in_use, collect, [&](const Head& head) {
        count = Lane::Run::TakeableIn(head.view, count_max);
        return TakeManyFromRun(head, taken, count);
      });
    }
    const auto consent = [](const ActiveEntry&) { return Consent::kTake; };
    const auto on_taken = [](const Head&) {};
    const PopOutcome outcome = TryPopOnce(*taken, consent, on_taken);
    count = outcome == PopOutcome::kEmpty ? 0 : 1;
    return outcome;
  }

  // The common case: main runs are all that is in use, so the first that is not empty decides.
  template <typename Take>
  PopOutcome TryPopOfMains(uint64_t in_use, Collect& collect, Take take_from) {
    // The words were read before the directory is: lanes that they name are in there.
    for (const auto& place : lanes_.Current()) {
      if ((in_use >> place.number & 1) == 0) continue;
      auto& run = place.lane->main();
      const auto view = run.Look();
      if (!view.IsEmpty()) {
        if (!collect.StillHolds()) return PopOutcome::kChanged;
        return take_from({&run, view, run.TimestampAt(segments_, view), place.lane->priority()});
      }
      collect.Add(run.tail_word(), view.tail);
    }
    return collect.StillHolds() ? PopOutcome::kEmpty : PopOutcome::kChanged;
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

  template <typename Ask, typename OnTaken>
  PopOutcome TryPopOfBoth(const Head& head, Collect& collect, ActiveEntry& taken,
                          const Ask& consent, const OnTaken& on_taken) {
    const typename Heap::Session session(heap_);
    const typename Heap::Peeked peeked = heap_.Peek();
    const bool is_heap_first =
        !peeked.is_empty && (head.run == nullptr || !GoesBefore(head.Key(), peeked.first.entry));
    if (!is_heap_first) {
      heap_.AddTo(collect, peeked);
    } else if (head.run != nullptr) {
      collect.Add(head.run->head_word(), head.view.head);
    }
    if (!collect.StillHolds()) return PopOutcome::kChanged;
    if (is_heap_first) return TakeFromHeap(peeked, taken, consent);
    return head.run == nullptr ? PopOutcome::kEmpty : TakeFromRun(head, taken, consent, on_taken);
  }

  template <typename Ask, typename OnTaken>
  PopOutcome TakeFromRun(const Head& head, ActiveEntry& taken, const Ask& consent,
                         const OnTaken& on_taken) {
    if (consent(head.Key()) == Consent::kLeave) {
      // The timestamp is the head's only if the head is still there.
      return head.run->Look().head == head.view.head ? PopOutcome::kLeft : PopOutcome::kChanged;
    }
    if (!head.run->TryTake(segments_, head.view, taken)) return PopOutcome::kChanged;
    taken.priority = head.priority;
    on_taken(head);
    return TakenAsNumber(head.view.Position());
  }

  PopOutcome TakeManyFromRun(const Head& head, ActiveEntry* taken, size_t count) {
    if (!head.run->TryTakeMany(segments_, head.view, taken, count)) return PopOutcome::kChanged;
    for (size_t i = 0; i < count; ++i) taken[i].priority = head.priority;
    const uint64_t first = head.view.Position();
    const bool is_sweep_due =
        first / Shape::kPopsPerSweep != (first + count) / Shape::kPopsPerSweep;
    return is_sweep_due ? PopOutcome::kTakenSweepDue : PopOutcome::kTaken;
  }

  template <typename Ask>
  PopOutcome TakeFromHeap(const typename Heap::Peeked& peeked, ActiveEntry& taken,
                          const Ask& consent) {
    if (consent(peeked.first.entry) == Consent::kLeave) {
      return heap_.StillHolds(peeked) ? PopOutcome::kLeft : PopOutcome::kChanged;
    }
    if (!heap_.TryTake(peeked)) return PopOutcome::kChanged;
    taken = peeked.first.entry;
    return TakenAsNumber(Heap::Front::ChangesIn(peeked.word));
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

  static PopOutcome TakenAsNumber(uint64_t number) {
    return (number + 1) % Shape::kPopsPerSweep == 0 ? PopOutcome::kTakenSweepDue
                                                    : PopOutcome::kTaken;
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
  Heap heap_;
};

}  // namespace schedq
