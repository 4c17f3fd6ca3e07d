// The memory model: which stores a load may return, and what is ordered before what.
//
// Purpose: C++20's rules for release and acquire, release sequences, read-modify-writes, fences and
// sequential consistency, in a form that a run executes step by step.
// When not to use it: tests meet it only through model::Atomic.
// Allowed threads: the one that runs the model.
// Invariants:
//   1. A location's stores are kept in the order of their execution, which is also its modification
//      order; a read-modify-write reads the newest.
//   2. A load never returns a store older than one that its thread has seen, or that anything
//      ordered before it has seen (coherence).
//   3. The single total order of sequentially consistent operations is the order of execution.
// What follows from the form, and so is not explored: a store that lands in the modification order
// before one that executed earlier (the weak outcome of 2+2W), a load that returns a store that
// executes later (load buffering, values out of thin air), and stores older than the newest
// kVersions of a location.
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
  // When each thread first read or wrote this store: its epoch then, or kNever.
  Clock first_seen;
  // The step at which a sequentially consistent operation first read or wrote it, or kNever.
  uint32_t seq_cst_step;
  // What an acquiring reader learns.
  View release;
};

struct Location {
  std::array<Version, kVersions> versions;
  uint32_t stores;    // so far; the newest is versions[(stores - 1) % kVersions]
  Clock last_access;  // of each thread
  const char* name;   // null unless the test gave one

  Version& Age(uint32_t age) { return versions[(stores - 1 - age) % kVersions]; }
  uint32_t Kept() const { return stores < kVersions ? stores : kVersions; }
};

// A plain value's accesses.
struct PlainHistory {
  uint32_t generation = 0;  // of the run that wrote the rest
  uint32_t write_epoch = 0;
  uint32_t writer = 0;
  Clock reads;
};

bool Acquires(std::memory_order order);
bool Releases(std::memory_order order);

class Memory {
 public:
  // Forgets everything: a new run, in which thread 0 is about to begin.
  void Begin();

  // Ticks the thread's clock; called once a step, before what the step does.
  void Tick(uint32_t thread);
  void Spawn(uint32_t parent, uint32_t child);
  void Join(uint32_t thread, uint32_t joined);
  const View& Now(uint32_t thread) const { return threads_[thread].now; }
  void Learn(uint32_t thread, const View& view) { threads_[thread].now.Join(view); }

  // A location whose first store is its construction by `thread` at `epoch`.
  uint32_t NewLocation(Word initial, uint32_t thread, uint32_t epoch);
  Location& At(uint32_t location) { return *locations_[location]; }

  // How many of the newest stores a load may return: 1 when only the newest.
  uint32_t Readable(Location& location, uint32_t thread, std::memory_order order) const;
  Word Load(Location& location, uint32_t age, uint32_t thread, std::memory_order order);
  void Store(Location& location, Word value, uint32_t thread, std::memory_order order);
  // Reads the newest store and replaces it.
  void Update(Location& location, Word value, uint32_t thread, std::memory_order order);
  void Fence(uint32_t thread, std::memory_order order);

  // Whether everything that any thread did to the location is ordered before `thread` now.
  bool OrderedBefore(const Location& location, uint32_t thread) const {
    return location.last_access.Within(threads_[thread].now.ordered);
  }
  bool OrderedBefore(uint32_t other, uint32_t epoch, uint32_t thread) const {
    return other == thread || epoch <= threads_[thread].now.ordered.at[other];
  }
  // The epoch of what the thread does to plain memory now: later than its latest atomic step, so
  // that a release in that step does not cover it.
  uint32_t PlainEpoch(uint32_t thread) const { return threads_[thread].now.ordered.at[thread] + 1; }
  // False on a data race. `write` includes destruction.
  bool Access(PlainHistory& history, uint32_t thread, bool write) const;

  uint32_t locations() const { return used_; }

 private:
  struct Thread {
    View now;
    View unacquired;     // released to relaxed loads; an acquire fence takes it
    View release_fence;  // what relaxed stores release since the latest release fence
  };

  void See(Location& location, Version& version, uint32_t thread, bool seq_cst);
  Version& Push(Location& location, Word value);

  std::array<Thread, kFibersMax> threads_;
  Clock seq_cst_seen_;  // what sequentially consistent fences have made visible to each other
  uint32_t step_ = 0;
  std::vector<std::unique_ptr<Location>> locations_;
  uint32_t used_ = 0;
};

}  // namespace schedq::model
