// Which of several workloads ends where their process uses too much memory.
//
// Purpose: workloads that run side by side share the process's memory, and none may fail that would
// fit alone. So a workload beside others gives way: it ends, its memory is freed, and whoever runs
// it puts it off until it is alone. Alone, it fails.
// When not to use it: for one piece of work; that is bench/memory_guard.h.
// Threads: a share by any; each Turn by the thread that plays its workload.
// Invariants:
//  1. At the limit, at most one workload at a time gives way: the memory of one may be enough.
//  2. What a share says of a workload that is alone is what a MemoryGuard says of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "bench/memory_guard.h"

namespace schedq {

class MemoryShare {
 public:
  // `bytes_max` as a MemoryGuard has it; 0 is decided now, for all turns.
  explicit MemoryShare(uint64_t bytes_max) : bytes_max_(MemoryGuard(bytes_max).bytes_max()) {}
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

  // A workload's time on the way. It outlives all that the workload allocates.
  class Turn {
   public:
    explicit Turn(MemoryShare* share);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Whether the workload has to end now: more than the limit is in use, and it is alone or the
    // one that gives way. As costly as MemoryGuard::IsExceeded, and true from then on.
    bool MustEnd();
    // An allocation failed. Whether the workload gives way, which others beside it allow.
    bool GivesWayToOthers();
    // The workload had to end beside others: it says nothing about how much it takes alone.
    bool gave_way() const { return gave_way_; }
    std::string Reason() const { return guard_.Reason(); }

   private:
    MemoryShare* const share_;
    MemoryGuard guard_;
    bool gave_way_ = false;
  };

 private:
  const uint64_t bytes_max_;
  std::mutex mutex_;            // Guards the members below.
  size_t under_way_ = 0;        // Turns that live.
  bool one_gives_way_ = false;  // And has not freed its memory yet.
};

}  // namespace schedq
