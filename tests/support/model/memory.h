// The memory model: the stores that a load may return, the places that a store may take, and the
// order of accesses.
//
// Purpose: C++20's rules for release and acquire, release sequences, read-modify-writes, fences and
// sequential consistency, in a form that a run executes step by step.
// When not to use it: in tests, which use model::Atomic.
// Allowed threads: the one that runs the model.
// Invariants:
//   1. A location's stores are kept in their modification order. A store that executes later may
//      come earlier in that order; a read-modify-write comes directly behind the store that it
//      reads, and nothing comes between later.
//   2. Coherence: an access is not ordered before a store in the modification order that its thread
//      has seen, or that a step ordered before it has seen.
//   3. The sequentially consistent operations have a total order that seq_cst_order.h describes,
//      and no access is placed so that there would be none. The order of execution is not part of
//      it: such a load may return an old store too.
// What the form leaves out:
//   a. a load that returns a store that executes later (load buffering, values out of thin air);
//   b. an access that is placed before the newest kVersions stores of its location.
// What a run leaves out on purpose: a store, a read-modify-write and a sequentially consistent load
// are placed before a store only if that store had to execute before them (Influenced). Otherwise
// some other schedule executes them first, and it has one step less that is out of place.
// Memory bound: kVersions stores a location.
// Source: the visibility rule by first-seen clocks is that of Relacy (Vyukov) and loom; the rest
// follows [atomics.order] of C++20. That a step depends on an earlier one is the relation of
// partial order reduction (Flanagan and Godefroid, 2005).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/model/clock.h"
#include "tests/support/model/seq_cst_order.h"

namespace schedq::model {

// The bits of an atomic value of up to 16 bytes.
struct Word {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Word& other) const { return low == other.low && high == other.high; }
};

inline constexpr uint32_t kVersions = 4;

// One store.
struct Version {
  Word value;
  // The epoch at which each thread first read or wrote this store, or kNever.
  Clock first_seen;
  // The knowledge that an acquiring reader learns.
  View release;
  uint32_t writer;
  uint32_t epoch;
  // The steps that had to execute before it, and before its readers.
  Clock influences;
  Clock readers_influences;
  bool is_update;  // It is a read-modify-write's, so nothing may come directly before it.

  // For the order of sequentially consistent operations. The operations that come before whatever
  // comes behind the write, or behind a read, in coherence order: the access itself, and fences
  // that happen before it. The latest of each thread.
  Clock write_sources;
  Clock read_sources;
  // The operations that access it, which are behind whatever comes before it in coherence order.
  // The earliest of each thread, or kNever.
  Clock targets;
};

struct Location {
  std::array<Version, kVersions> versions;
  uint32_t
      stores;  // The number of stores so far; the newest is versions[(stores - 1) % kVersions].
  Clock last_access;  // The epoch of each thread's last access.
  const char* name;   // Null unless the test gave one.
  // Of stores that are no longer kept, and their readers: sources, and influences.
  Clock older_sources;
  Clock older_influences;

  Version& Age(uint32_t age) { return versions[(stores - 1 - age) % kVersions]; }
  const Version& Age(uint32_t age) const { return versions[(stores - 1 - age) % kVersions]; }
  uint32_t Kept() const { return stores < kVersions ? stores : kVersions; }
};

// The accesses to a plain value.
struct PlainHistory {
  uint32_t generation = 0;  // The run that the other fields belong to.
  uint32_t write_epoch = 0;
  uint32_t writer = 0;
  Clock reads;
};

bool Acquires(std::memory_order order);
bool Releases(std::memory_order order);

class Memory {
 public:
  // Starts a new run, before the first step of thread 0. With `places_old` an access may be placed
  // before the newest store.
  void Begin(bool places_old);
  // From here on each access reads or follows the newest store. That is always allowed, so nothing
  // more needs to be recorded for MayLoad and MayStore.
  void PlaceOnlyNew() { places_old_ = false; }

  // Ticks the thread's clock. Called once a step, before the step takes effect.
  void Tick(uint32_t thread) {
    Thread& self = threads_[thread];
    self.influenced.at[thread] = ++self.now.ordered.at[thread];
  }
  void Spawn(uint32_t parent, uint32_t child);
  void Join(uint32_t thread, uint32_t joined);
  // All other threads were joined.
  void BeAlone() { is_alone_ = true; }
  bool is_alone() const { return is_alone_; }
  const View& Now(uint32_t thread) const { return threads_[thread].now; }
  void Learn(uint32_t thread, const View& view) { threads_[thread].now.Join(view); }

  // Makes a location whose first store is its construction by `thread` at `epoch`.
  uint32_t NewLocation(Word initial, uint32_t thread, uint32_t epoch);
  Location& At(uint32_t location) { return *locations_[location]; }

  // An access has an age: that of the store that it reads, or directly behind which it stores. By
  // coherence an access may have any age below this one; 1 is only the newest store.
  uint32_t Readable(const Location& location, uint32_t thread) const;
  // Whether an access of an age above 0 that Readable() allows is allowed by the order of
  // sequentially consistent operations.
  bool MayLoad(const Location& location, uint32_t age, uint32_t thread, std::memory_order order) {
    return MayAccess(location, age, thread, order, false, true);
  }
  // The same for a store and for a read-modify-write. Nothing may come between a read-modify-write
  // and the store that it read.
  bool MayStore(const Location& location, uint32_t age, uint32_t thread, std::memory_order order) {
    return !location.Age(age - 1).is_update && MayAccess(location, age, thread, order, true, false);
  }
  bool MayUpdate(const Location& location, uint32_t age, uint32_t thread, std::memory_order order) {
    return !location.Age(age - 1).is_update && MayAccess(location, age, thread, order, true, true);
  }
  // Whether a store newer than this age had to execute before an access of this age. If not, some
  // other schedule executes the access first.
  bool Influenced(const Location& location, uint32_t age, uint32_t thread) const;

  Word Load(Location& location, uint32_t age, uint32_t thread, std::memory_order order);
  void Store(Location& location, uint32_t age, Word value, uint32_t thread,
             std::memory_order order);
  void Update(Location& location, uint32_t age, Word value, uint32_t thread,
              std::memory_order order);
  void Fence(uint32_t thread, std::memory_order order);
  // A moment that all threads agree on: it is a sequentially consistent operation of its own that
  // comes behind all earlier moments, and tells no thread anything.
  void Moment(uint32_t thread);
  // The step depends on an access of this age, and later ones depend on the step.
  void Influence(Location& location, uint32_t age, uint32_t thread, bool stores);

  // Whether all accesses of all threads to the location are ordered before the next step of
  // `thread`.
  bool OrderedBefore(const Location& location, uint32_t thread) const {
    return location.last_access.Within(threads_[thread].now.ordered);
  }
  bool OrderedBefore(uint32_t other, uint32_t epoch, uint32_t thread) const {
    return other == thread || epoch <= threads_[thread].now.ordered.at[other];
  }
  // The epoch of the thread's plain accesses now. It is later than that of its latest atomic step,
  // so that a release in that step does not cover them.
  uint32_t PlainEpoch(uint32_t thread) const { return threads_[thread].now.ordered.at[thread] + 1; }
  // Returns false on a data race. A destruction counts as a write.
  bool Access(PlainHistory& history, uint32_t thread, bool write) const;

  uint32_t locations() const { return used_; }

 private:
  struct Thread {
    View now;
    View unacquired;     // Released to relaxed loads; an acquire fence joins it to `now`.
    View release_fence;  // The view at the latest release fence, which relaxed stores release.
    Clock influenced;    // The steps that its next step depends on.
  };

  bool Records() const { return places_old_ && !is_alone_; }
  void See(Location& location, Version& version, uint32_t thread);
  Version& Insert(Location& location, uint32_t age, Word value, uint32_t thread, uint32_t epoch);
  // What an access adds to the order of sequentially consistent operations. An access that stores
  // comes behind the readers of the store of its age.
  struct Ordering {
    Clock before;   // What comes before it, closed, if it is one of them.
    Clock targets;  // The operations behind it in coherence order, and fences behind those.
    bool is_seq_cst = false;
    bool matters = false;
  };
  bool MayAccess(const Location& location, uint32_t age, uint32_t thread, std::memory_order order,
                 bool stores, bool loads);
  // Called before the access takes effect, and after. The second returns the access's sources.
  Ordering BeginOrdering(const Location& location, uint32_t age, uint32_t thread,
                         std::memory_order order, bool stores);
  Clock FinishOrdering(uint32_t thread, uint32_t age, const Ordering& ordering, Version& version);
  void ExtendByCoherence(const Location& location, uint32_t age, bool stores, Clock& before) const;
  Version& Write(Location& location, uint32_t age, Word value, uint32_t thread,
                 std::memory_order order, const Ordering& ordering);

  std::array<Thread, kFibersMax> threads_;
  bool places_old_ = false;
  // Thread 0 runs alone, before the others or after them. What it does then is ordered before or
  // behind whatever they do, so nothing needs to be recorded.
  bool is_alone_ = true;
  SeqCstOrder seq_cst_;
  Clock moments_;  // The steps that the next moment depends on.
  std::vector<std::unique_ptr<Location>> locations_;
  uint32_t used_ = 0;
};

}  // namespace schedq::model
