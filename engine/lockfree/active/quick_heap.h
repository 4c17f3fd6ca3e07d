// A strict concurrent priority queue for keys of any kind: the place of entries that suit no lane.
//
// Purpose: random priorities, or timestamps in random order. Keys are cut into ranges: the front
// holds those that go first and is the only part that pops look at; behind it are buckets, each an
// unordered bag. A bucket is put in order only when the front is drained and it is the next one, so
// most of the work of a heap is never done, and memory is read in sequence.
// When not to use it: for keys that come nearly in order; lanes are several times as fast.
// Threads: all operations from any thread. Push, Peek and TryTake are lock-free: they repeat only
// when another thread changed the front's word, a bucket's count or the root; a restructuring that
// one thread began is finished by each thread that meets it, and none waits. (Where kHeapRootsMax
// threads have stopped in the middle of one, others that need one repeat until one of these
// continues.)
// Invariants:
//  1. The root names a front and a directory of buckets; ranges do not overlap and cover all keys.
//     Everything in the front goes before everything in the first bucket, and so on.
//  2. The range of a part does not shrink while it can take a push: a thread that replaces parts
//     freezes the front or the bucket first, and a push into a frozen part fails. So a push that
//     succeeds has found the right part, even if its root is old, and its linearization point is
//     the one of HeapFront::Push or HeapBucket::TryPush. (A range grows where an empty bucket
//     behind it goes.)
//  3. A front that is not frozen is the root's. So its word tells what goes first in the whole
//  heap,
//     unless it is drained while there are buckets; and a pop's linearization point is its exchange
//     of that word, or any instant before at which the root and the word were what it had read.
//  4. A frozen part's content is fixed, so all threads that replace it build the same but for
//     entries that their owner gave up, and one of them wins the exchange of the root. A thread
//     that meets a frozen front replaces it before anything else; otherwise a pop that drains the
//     first bucket and a push that replaces it could undo each other's work for ever.
// Memory: buckets are at least a quarter full on average, unless pops have emptied them or entries
// are dropped; 32 bytes a slot. Directories have 24 bytes a bucket, and grow with the buckets.
// Parts are used again when no thread may look at them (era_pool.h), so a stalled thread holds what
// there was when it stalled, and no more.
// Source: G. Navarro and R. Paredes, On Sorting, Heaps, and Minimum Spanning Trees (quickheaps,
// 2010); freezing a part before it is replaced: A. Braginsky et al., CBPQ, 2016.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/heap_parts.h"
#include "engine/lockfree/memory/era_pool.h"

namespace schedq {

// Shape has kBucketEntries, kBagEntries, kRangesMin and kHeapRootsMax.
template <template <typename> class Atom, typename Shape>
class QuickHeap {
  static constexpr uint32_t kBucketEntries = Shape::kBucketEntries;

 public:
  using Front = HeapFront<Atom, kBucketEntries, Shape::kBagEntries>;
  using Bucket = HeapBucket<Atom, kBucketEntries>;
  using Directory = HeapDirectory<Atom, Shape::kRangesMin>;

  // What a Peek adds to a double collect.
  static constexpr uint32_t kWords = 2;

  QuickHeap()
      : roots_(eras_, 2, Shape::kHeapRootsMax),
        fronts_(eras_, 1),
        directories_(eras_, 1),
        buckets_(eras_, 3) {
    const uint32_t front = fronts_.Allocate(0);
    fronts_[front].Fill(Scratch{}, 0);
    const uint32_t directory = directories_.Allocate(0);
    directories_[directory].ClearFor(0);
    const uint32_t root = roots_.Allocate(0);
    roots_[root].Set(front, directory);
    root_.store(WordOf(0, root));
  }
  QuickHeap(const QuickHeap&) = delete;
  QuickHeap& operator=(const QuickHeap&) = delete;
  ~QuickHeap() {
    directories_.ForEach([](Directory& directory) { directory.FreeRanges(); });
  }

  // Lock-free.
  void Push(const ActiveEntry& entry) {
    const HeapRank rank = HeapRank::Of(entry);
    const Session session(*this);
    while (!TryPush(EnterRoot(), rank, entry)) {
    }
  }

  // Keeps the parts that Peek has shown from being used again. One a thread at a time.
  class Session {
   public:
    explicit Session(const QuickHeap& heap) : cell_(heap.eras_.Prepare()) {}
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { EraTable<Atom>::Withdraw(cell_); }

   private:
    typename EraTable<Atom>::Cell& cell_;
  };

  // What goes first, as long as the root and the front's word are what they were.
  struct Peeked {
    bool is_empty = true;
    uint64_t root = 0;
    Front* front = nullptr;
    uint64_t word = 0;
    typename Front::First first;
  };

  // Within a session. Lock-free. Linearization point: the load of the front's word.
  Peeked Peek() {
    // Each round without an answer has replaced a front, or met a root that has changed.
    for (;;) {
      const View view = EnterRoot();
      const uint64_t word = view.front->word().load();
      if ((word & Front::kFrozen) == 0) {
        if (!view.front->IsDrained(word)) {
          return {false, view.word, view.front, word, view.front->FirstAt(word)};
        }
        if (view.directory->count() == 0) return {true, view.word, view.front, word, {}};
      }
      ReplaceFront(view);
    }
  }

  // Asks `collect` whether the heap still had nothing that goes before what was peeked.
  template <typename Collect>
  void AddTo(Collect& collect, const Peeked& peeked) const {
    collect.Add(root_, peeked.root);
    collect.Add(peeked.front->word(), peeked.word);
  }

  // Takes what was peeked in this session; false if the front has changed.
  bool TryTake(const Peeked& peeked) { return peeked.front->TryTake(peeked.word, peeked.first); }

  // Drops entries of which is_stale(ticket) says so: in the bucket of this number, if there is one,
  // and perhaps in the next. Lock-free: it is done, or another thread came first. Returns how many
  // entries were looked at.
  template <typename IsStale>
  uint64_t DropStale(uint64_t number, const IsStale& is_stale) {
    const Session session(*this);
    const View view = EnterRoot();
    if (number >= view.directory->count()) return 0;
    if ((view.front->word().load() & Front::kFrozen) == 0) {
      return DropStaleFrom(view, static_cast<uint32_t>(number), is_stale);
    }
    ReplaceFront(view);
    return 0;
  }
  // May be stale.
  uint64_t BucketCount() const {
    const Session session(*this);
    return EnterRoot().directory->count();
  }

  // May be stale.
  uint64_t Size() const {
    const Session session(*this);
    const View view = EnterRoot();
    uint64_t size = view.front->Size(view.front->word().load());
    for (uint32_t i = 0; i < view.directory->count(); ++i) {
      size += buckets_[view.directory->BucketAt(i)].Size();
    }
    return size;
  }

 private:
  // A front that is replaced while it holds more than this gives all but the first of them to a new
  // bucket, so that the next replacement copies few. What it gives and the first bucket become one
  // if that holds both: otherwise entries that each go before all others would fill the directory
  // with small buckets.
  static constexpr uint32_t kFrontMax = kBucketEntries / 4;
  static constexpr uint32_t kFrontKept = kBucketEntries / 8;
  using Scratch = HeapScratch<2 * kBucketEntries + Shape::kBagEntries>;
  static constexpr uint32_t kNoBucket = ~uint32_t{0};
  static_assert(kFrontKept >= Shape::kBagEntries,
                "what a front does not keep fits into one bucket");

  class Change;
  struct View {
    uint64_t word;
    Front* front;
    uint32_t front_index;
    Directory* directory;
    uint32_t directory_index;
    uint32_t root_index;
  };

  // The root is, from bit 0: an unused bit, the root's record, the era.
  static constexpr uint32_t kEraShift = 17;
  static_assert(Shape::kHeapRootsMax <= 1 << (kEraShift - 1), "the word has bits for each root");
  static uint64_t WordOf(uint64_t era, uint32_t root) {
    return era << kEraShift | uint64_t{root} << 1;
  }
  static uint64_t EraIn(uint64_t word) { return word >> kEraShift; }

  // Within a session. Announces the root's era, and shows what the root names.
  View EnterRoot() const {
    uint64_t word = root_.load();
    // Each round means that another thread has replaced the root.
    for (;;) {
      eras_.AnnouncePrepared(EraIn(word));
      const uint64_t again = root_.load();
      if (again == word) break;
      word = again;
    }
    const auto index = static_cast<uint32_t>(word >> 1 & ((1 << (kEraShift - 1)) - 1));
    const HeapRoot<Atom>& root = roots_[index];
    return {word,
            &fronts_[root.front()],
            root.front(),
            &directories_[root.directory()],
            root.directory(),
            index};
  }

  bool TryPush(const View& view, const HeapRank& rank, const ActiveEntry& entry) {
    const uint32_t place = view.directory->CountUpTo(rank);
    if (place == 0) {
      if (view.front->Push(entry) == Front::PushOutcome::kPushed) return true;
      ReplaceFront(view);
      return false;
    }
    if (buckets_[view.directory->BucketAt(place - 1)].TryPush(entry)) return true;
    if ((view.front->word().load() & Front::kFrozen) != 0) {
      ReplaceFront(view);
    } else {
      SplitBucket(view, place - 1);
    }
    return false;
  }

  // Gives the root a new front: what the old one held, or if that was nothing the first bucket.
  void ReplaceFront(const View& view) {
    Scratch scratch;
    view.front->CollectInto(view.front->Freeze(), scratch);
    uint32_t drained = 0;
    uint32_t kept = scratch.size() > kFrontMax ? kFrontKept : scratch.size();
    if (scratch.size() == 0 && view.directory->count() > 0) {
      buckets_[view.directory->BucketAt(0)].FreezeInto(scratch);
      scratch.Sort();
      drained = 1;
      kept = scratch.size();
    }

    Change change(*this, view);
    change.NewFront(scratch, kept);
    if (drained == 0 && kept == scratch.size()) {
      change.Commit();
      return;
    }
    change.NewDirectory();
    if (kept < scratch.size()) drained = GiveFromFront(view, kept, scratch, change);
    change.AddRange(drained, view.directory->count());
    if (change.Commit() && drained != 0) {
      buckets_.Retire(view.directory->BucketAt(0), change.era());
    }
  }

  // Puts what the front does not keep into a new bucket, with what the first one held if that is
  // little. Returns how many of the old buckets that replaces.
  uint32_t GiveFromFront(const View& view, uint32_t kept, Scratch& scratch, Change& change) {
    const uint32_t end = scratch.size();
    const bool takes_first =
        view.directory->count() > 0 &&
        buckets_[view.directory->BucketAt(0)].Size() + (end - kept) <= kBucketEntries;
    if (takes_first) buckets_[view.directory->BucketAt(0)].FreezeInto(scratch);
    // Pushes may have filled it before it was frozen.
    const bool is_one = scratch.size() - kept <= kBucketEntries;
    change.AddBucket(scratch, kept, is_one ? scratch.size() : end);
    if (!is_one) change.AddBucket(scratch, end, scratch.size(), &view.directory->BoundAt(0));
    return takes_first ? 1 : 0;
  }

  // Replaces a bucket that is full or frozen by two, or by one if little of it was ready.
  void SplitBucket(const View& view, uint32_t index) {
    Scratch scratch;
    const uint32_t old = view.directory->BucketAt(index);
    buckets_[old].FreezeInto(scratch);
    const uint32_t middle = scratch.size() / 2;
    const bool is_split = scratch.size() > kFrontMax;
    // All threads that do this have collected the same in the same order, and divide it in the same
    // way.
    if (is_split) scratch.Divide(middle);

    Change change(*this, view);
    change.NewDirectory();
    change.AddRange(0, index);
    const HeapRank& bound = view.directory->BoundAt(index);
    change.AddBucket(scratch, 0, is_split ? middle : scratch.size(), &bound);
    if (is_split) change.AddBucket(scratch, middle, scratch.size());
    change.AddRange(index + 1, view.directory->count());
    if (change.Commit()) buckets_.Retire(old, change.era());
  }

  // Replaces a bucket by one without stale entries, or by none. Takes the next one with it if both
  // have become small.
  template <typename IsStale>
  uint64_t DropStaleFrom(const View& view, uint32_t index, const IsStale& is_stale) {
    HeapScratch<2 * kBucketEntries> live;
    const uint32_t old[] = {
        view.directory->BucketAt(index),
        index + 1 < view.directory->count() ? view.directory->BucketAt(index + 1) : kNoBucket};
    buckets_[old[0]].FreezeInto(live);
    uint64_t looked = live.size();
    live.DropStaleFrom(0, is_stale);
    const uint32_t live_in_first = live.size();
    const bool takes_next = old[1] != kNoBucket && live_in_first <= kBucketEntries / 4 &&
                            buckets_[old[1]].Size() <= kBucketEntries / 4;
    if (takes_next) {
      buckets_[old[1]].FreezeInto(live);
      looked += live.size() - live_in_first;
      live.DropStaleFrom(live_in_first, is_stale);
    }

    Change change(*this, view);
    change.NewDirectory();
    change.AddRange(0, index);
    // Pushes may have filled the next one before it was frozen.
    const uint32_t end = live.size() <= kBucketEntries ? live.size() : live_in_first;
    if (end > 0) change.AddBucket(live, 0, end, &view.directory->BoundAt(index));
    if (end < live.size()) {
      change.AddBucket(live, end, live.size(), &view.directory->BoundAt(index + 1));
    }
    change.AddRange(index + (takes_next ? 2 : 1), view.directory->count());
    if (!change.Commit()) return looked;
    buckets_.Retire(old[0], change.era());
    if (takes_next) buckets_.Retire(old[1], change.era());
    return looked;
  }

  // New parts, known to this thread until Commit.
  class Change {
   public:
    Change(QuickHeap& heap, const View& view)
        : heap_(heap),
          view_(view),
          era_(EraIn(view.word) + 1),
          front_(view.front_index),
          directory_(view.directory_index) {}

    uint64_t era() const { return era_; }

    void NewFront(const Scratch& scratch, uint32_t end) {
      front_ = heap_.fronts_.Allocate(era_);
      heap_.fronts_[front_].Fill(scratch, end);
      has_front_ = true;
    }
    void NewDirectory() {
      directory_ = heap_.directories_.Allocate(era_);
      heap_.directories_[directory_].ClearFor(view_.directory->count() + kNewBucketsMax);
      has_directory_ = true;
    }
    void AddRange(uint32_t begin, uint32_t end) {
      heap_.directories_[directory_].AddRange(*view_.directory, begin, end);
    }
    // A bucket whose range starts at `bound`, or else at its first entry.
    template <uint32_t kMax>
    void AddBucket(const HeapScratch<kMax>& scratch, uint32_t begin, uint32_t end,
                   const HeapRank* bound = nullptr) {
      const uint32_t index = heap_.buckets_.Allocate(era_);
      Bucket& bucket = heap_.buckets_[index];
      bucket.Clear();
      for (uint32_t i = begin; i < end; ++i) bucket.Fill(i - begin, scratch[i]);
      heap_.directories_[directory_].Add(bound != nullptr ? *bound : HeapRank::Of(scratch[begin]),
                                         index);
      new_buckets_[new_bucket_count_++] = index;
    }

    // Linearization point of a change: the exchange of the root. If another thread's change came
    // first, or no root is free, the new parts go back.
    bool Commit() {
      const uint32_t root = heap_.roots_.TryAllocate(era_);
      if (root != decltype(heap_.roots_)::Pool::kNone && TryExchangeRoot(root)) {
        heap_.roots_.Retire(view_.root_index, era_);
        if (has_front_) heap_.fronts_.Retire(view_.front_index, era_);
        if (has_directory_) heap_.directories_.Retire(view_.directory_index, era_);
        return true;
      }
      if (has_front_) heap_.fronts_.Discard(front_);
      if (has_directory_) heap_.directories_.Discard(directory_);
      for (uint32_t i = 0; i < new_bucket_count_; ++i) heap_.buckets_.Discard(new_buckets_[i]);
      return false;
    }

   private:
    static constexpr uint32_t kNewBucketsMax = 2;

    bool TryExchangeRoot(uint32_t root) {
      heap_.roots_[root].Set(front_, directory_);
      uint64_t expected = view_.word;
      if (heap_.root_.compare_exchange_strong(expected, WordOf(era_, root))) return true;
      heap_.roots_.Discard(root);
      return false;
    }

    QuickHeap& heap_;
    const View& view_;
    const uint64_t era_;
    uint32_t front_;
    uint32_t directory_;
    bool has_front_ = false;
    bool has_directory_ = false;
    uint32_t new_bucket_count_ = 0;
    std::array<uint32_t, kNewBucketsMax> new_buckets_{};
  };

  mutable EraTable<Atom> eras_;
  EraPool<HeapRoot<Atom>, Atom> roots_;
  EraPool<Front, Atom> fronts_;
  EraPool<Directory, Atom> directories_;
  EraPool<Bucket, Atom> buckets_;
  // Written by a thread that replaces parts. A thread that reads an old one meets frozen parts.
  alignas(64) Atom<uint64_t> root_{0};
};

}  // namespace schedq
