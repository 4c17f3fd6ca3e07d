// The outcomes that C++20 allows a small concurrent program, from the axioms of its memory model.
//
// Purpose: the judge of the model checker's memory. It enumerates candidate executions (which store
// each load reads, and the modification order of each location) and keeps those that the axioms
// allow. It shares nothing with the checker, which executes a program step by step.
// When not to use it: for programs of more than about ten accesses, or with branches.
// Source: [intro.races] and [atomics.order] of C++20 (P0668), as relations; the ban on cycles of
// program order and reads-from is that of RC11 (Lahav et al., Repairing Sequential Consistency in
// C/C++11, 2017), which stands for the standard's words on values out of thin air.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

namespace schedq {

struct Access {
  enum class Kind : uint8_t {
    kLoad,
    kStore,
    kExchange,  // Reads, and stores the value.
    kTouch,     // Reads, and stores what it has read.
    kFence,
  };
  Kind kind = Kind::kFence;
  uint32_t location = 0;
  int64_t value = 0;
  std::memory_order order = std::memory_order_relaxed;

  bool Reads() const { return kind != Kind::kStore && kind != Kind::kFence; }
  bool Writes() const { return kind != Kind::kLoad && kind != Kind::kFence; }
};

// The accesses of each thread. All locations are 0 at first.
struct LitmusProgram {
  uint32_t locations = 2;
  std::vector<std::vector<Access>> threads;
};

// What each reading access has read, thread by thread, and then each location's last value.
using LitmusOutcome = std::vector<int64_t>;
using LitmusOutcomes = std::set<LitmusOutcome>;

// With `load_buffering`, cycles of program order and reads-from are allowed.
LitmusOutcomes AllowedOutcomes(const LitmusProgram& program, bool load_buffering = false);

}  // namespace schedq
