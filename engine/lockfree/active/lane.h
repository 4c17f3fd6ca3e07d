// All entries of one priority that came in nearly sorted: a few sorted runs.
//
// Purpose: arrivals are nearly in the order of their timestamps. Those that are not, or that meet
// another push, go to a further run; a pop takes the oldest of the runs' heads.
// When not to use it: for timestamps in random order. Then all runs end in new timestamps, Append
// refuses, and the caller needs another place.
// Threads: all operations from any thread, lock-free.
// Invariants:
//  1. A run's entries rise (sorted_run.h); the lane's oldest entry is the head of one of them.
//  2. Runs are tried in order. So the first one, the main run, is in use most of the time, and its
//     owner keeps account of that together with the other lanes'. Of the further ones those that
//     hold entries whose push has returned are in `further` (occupancy_word.h).
//  3. A lane lives as long as its queue.
// Memory: kRuns lines, and the segments of the runs that were ever used.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/base/atom.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/occupancy_word.h"
#include "engine/lockfree/active/sorted_run.h"

namespace schedq {

template <template <typename> class Atom, uint32_t kRuns, uint32_t kSegmentEntries>
class Lane {
 public:
  using Run = SortedRun<Atom, kSegmentEntries>;
  using Pool = typename Run::Pool;
  static_assert(kRuns - 1 <= OccupancyWord<Atom>::kMembersMax, "a further run is a member");
  // What a collect of one lane adds at most: a word for each run, and the occupancy.
  static constexpr uint32_t kWords = kRuns + 1;

  // A run's head: its timestamp holds as long as the head is the view's.
  struct Head {
    Run* run = nullptr;
    typename Run::View view;
    int64_t timestamp_ns = 0;
    int32_t priority = 0;
    bool is_alone = false;  // No other run holds an entry of this priority or a better one.

    ActiveEntry Key() const { return {priority, timestamp_ns, 0}; }
  };

  enum class Place { kMain, kFurther, kNone };

  explicit Lane(int32_t priority) : priority_(priority) {}

  int32_t priority() const { return priority_; }
  Run& main() { return main_; }

  // Appends entries of rising timestamps to the first run that takes them, all visible at once, and
  // says which kind of run that was. Linearization point: where the run publishes them.
  Place Append(Pool& pool, const ActiveEntry* entries, size_t count) {
    if (AppendTo(main_, pool, entries, count) == AppendOutcome::kAppended) return Place::kMain;
    const int64_t timestamp_ns = entries->timestamp_ns;
    if (timestamp_ns < LoadRelaxed(too_old_ns_)) return Place::kNone;
    bool is_too_old = true;
    for (uint32_t i = 0; i < kFurther; ++i) {
      const AppendOutcome outcome = AppendTo(further_[i], pool, entries, count);
      is_too_old = is_too_old && outcome == AppendOutcome::kTooOld;
      if (outcome != AppendOutcome::kAppended) continue;
      occupancy_.Mark(i);
      return Place::kFurther;
    }
    if (is_too_old) StoreRelaxed(too_old_ns_, timestamp_ns);
    return Place::kNone;
  }

  // Puts the main run's head into `oldest` if it is older than that. Adds to `collect` what must
  // not change if the main run is to have nothing older: see CollectRun.
  template <typename Collect>
  void CollectMain(const Pool& pool, Collect& collect, Head& oldest) {
    CollectRun(main_, pool, collect, oldest);
  }
  // The same for all further runs.
  template <typename Collect>
  void CollectFurther(const Pool& pool, Collect& collect, Head& oldest) {
    const uint64_t word = occupancy_.Load();
    collect.Add(occupancy_.word(), word);
    uint64_t members = OccupancyWord<Atom>::MembersIn(word);
    for (; members != 0; members &= members - 1) {
      CollectRun(further_[std::countr_zero(members)], pool, collect, oldest);
    }
  }

  // Takes further runs out of the occupancy that were idle since the last sweep.
  void SweepFurther() {
    // Some may have been emptied, and take any entry.
    if (LoadRelaxed(too_old_ns_) != kNothing) StoreRelaxed(too_old_ns_, kNothing);
    uint64_t members = OccupancyWord<Atom>::MembersIn(occupancy_.Load());
    for (; members != 0; members &= members - 1) {
      const auto member = static_cast<uint32_t>(std::countr_zero(members));
      Run& run = further_[member];
      if (run.WasIdle()) occupancy_.Clear(member, [&run] { return run.Look().IsEmpty(); });
    }
  }

  bool HasNoFurtherInUse() const { return OccupancyWord<Atom>::MembersIn(occupancy_.Load()) == 0; }

  // The run that holds the entry before which there are `*before` others, run by run; nullptr if
  // there are no more, and then `*before` is less by as many as there are. A hint.
  Run* RunAt(uint64_t* before) {
    for (uint32_t i = 0; i < kRuns; ++i) {
      Run& run = i == 0 ? main_ : further_[i - 1];
      const uint64_t size = run.Look().Size();
      if (*before < size) return &run;
      *before -= size;
    }
    return nullptr;
  }

  // May be stale.
  uint64_t Size() const {
    uint64_t size = main_.Look().Size();
    for (const Run& run : further_) size += run.Look().Size();
    return size;
  }

 private:
  // Another append is over in a few steps, unless its thread is not running; a further run costs
  // every pop more than a short wait costs this push.
  static constexpr int kTriesMax = 8;

  static AppendOutcome AppendTo(Run& run, Pool& pool, const ActiveEntry* entries, size_t count) {
    AppendOutcome outcome = run.TryAppend(pool, entries, count);
    for (int tries = 1; outcome == AppendOutcome::kBusy && tries < kTriesMax; ++tries) {
      Seam<Atom>::Pause();
      outcome = run.TryAppend(pool, entries, count);
    }
    return outcome;
  }

  // What must not change: the tail of a run that is empty, and the head of one that is not, unless
  // it is the one that will be taken, whose exchange finds out.
  template <typename Collect>
  static void CollectRun(Run& run, const Pool& pool, Collect& collect, Head& oldest) {
    const typename Run::View view = run.Look();
    if (view.IsEmpty()) {
      collect.Add(run.tail_word(), view.tail);
      return;
    }
    const Head head{&run, view, run.TimestampAt(pool, view), 0};
    const bool is_older = oldest.run == nullptr || head.timestamp_ns < oldest.timestamp_ns;
    const Head& other = is_older ? oldest : head;
    if (other.run != nullptr) collect.Add(other.run->head_word(), other.view.head);
    if (is_older) oldest = head;
  }

  static constexpr uint32_t kFurther = kRuns - 1;
  static constexpr int64_t kNothing = std::numeric_limits<int64_t>::min();

  Run main_;
  const int32_t priority_;
  OccupancyWord<Atom> occupancy_;
  // All further runs refused an entry of this timestamp, and so would they an older one: until one
  // of them is emptied. A hint, which saves the asking; an entry that it keeps out goes elsewhere.
  Atom<int64_t> too_old_ns_{kNothing};
  std::array<Run, kFurther> further_;
};

}  // namespace schedq
