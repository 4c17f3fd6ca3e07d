// The memory model: the stores that a load may return, and the order of accesses.
//
// Purpose: C++20's rules for release and acquire, release sequences, read-modify-writes, fences and
// sequential consistency, in a form that a run executes step by step.
// When not to use it: in tests, which use model::Atomic.
// Allowed threads: the one that runs the model.
// Invariants:
//   1. A location's stores are kept in the order of their execution, which is also its modification
//      order; a read-modify-write reads the newest.
//   2. Coherence: a load never returns a store older than one that its thread has seen, or that a
//      step ordered before it has seen.
//   3. The single total order of sequentially consistent operations is the order of execution.
// This form does not explore three kinds of outcome:
//   a. a store that precedes an earlier executed one in the modification order (the weak outcome of
//      2+2W);
//   b. a load that returns a store that executes later (load buffering, values out of thin air);
//   c. a load that returns a store older than the newest kVersions of its location.
// Memory bound: kVersions stores a location.
// Source: the visibility rule by first-seen clocks is that of Relacy (Vyukov) and loom; fences
// follow [atomics.order] of C++20.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/model/clock.h"

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
  // The step at which a sequentially consistent operation first read or wrote it, or kNever.
  uint32_t seq_cst_step;
  // The knowledge that an acquiring reader learns.
  View release;
};

struct Location {
  std::array<Version, kVersions> versions;
  uint32_t
      stores;  // The number of stores so far; the newest is versions[(stores - 1) % kVersions].
  Clock last_access;  // The epoch of each thread's last access.
  const char* name;   // Null unless the test gave one.

  Version& Age(uint32_t age) { return versions[(stores - 1 - age) % kVersions]; }
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
  // Starts a new run, before the first step of thread 0.
  void Begin();

  // Ticks the thread's clock. Called once a step, before the step takes effect.
  void Tick(uint32_t thread);
  void Spawn(uint32_t parent, uint32_t child);
  void Join(uint32_t thread, uint32_t joined);
  const View& Now(uint32_t thread) const { return threads_[thread].now; }
  void Learn(uint32_t thread, const View& view) { threads_[thread].now.Join(view); }

  // Makes a location whose first store is its construction by `thread` at `epoch`.
  uint32_t NewLocation(Word initial, uint32_t thread, uint32_t epoch);
  Location& At(uint32_t location) { return *locations_[location]; }

  // The number of newest stores that a load may return; 1 is only the newest.
  uint32_t Readable(Location& location, uint32_t thread, std::memory_order order) const;
  Word Load(Location& location, uint32_t age, uint32_t thread, std::memory_order order);
  void Store(Location& location, Word value, uint32_t thread, std::memory_order order);
  // Reads the newest store and replaces it.
  void Update(Location& location, Word value, uint32_t thread, std::memory_order order);
  void Fence(uint32_t thread, std::memory_order order);

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
  };

  void See(Location& location, Version& version, uint32_t thread, bool seq_cst);
  Version& Push(Location& location, Word value);

  std::array<Thread, kFibersMax> threads_;
  Clock
      seq_cst_seen_;  // The stores that sequentially consistent fences made visible to each other.
  uint32_t step_ = 0;
  std::vector<std::unique_ptr<Location>> locations_;
  uint32_t used_ = 0;
};

}  // namespace schedq::model
