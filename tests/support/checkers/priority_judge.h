// Whether a whole history of a strict priority queue is linearizable, in O(n log n).
//
// Purpose: stress runs of 10^7 operations, each judged as one history. Entries are told apart by
// their tickets; entries of equal keys may be popped in any order. A removal takes an entry out if
// it was not popped before.
// When not to use it: for other objects, and where a ticket comes twice by design; see
// tests/support/linearizability.h, which takes any object and at most 64 operations.
// Allowed threads: the caller's.
//
// How it decides. Entry u is *certainly there* between the response of its push and the invocation
// of what took it out. Let v be a popped entry that no other entry goes behind. Its pop may take
// effect at an instant t of its call if at t no entry that goes before v is certainly there; if the
// other entries have a linearization, then one with v exists too. For in theirs, each entry u that
// is there at t and goes before v is not certainly there at t. So either its push may take effect
// right after t, or its pop right before t, best first. Both leave every other pop right, as there
// is less in the queue than before. If there is no such t, then there is no linearization, since in
// each of them some better entry is there when v is popped. So v may be set aside, and what is left
// is the same question for a smaller history. A pop that found nothing is a v that all entries go
// before. This needs for each pop only the union of the times in which better entries are certainly
// there: the judge adds entries best first, and asks about each key before it adds that key.
//
// Time that is equal is not ordered: a call that responds at the tick at which another one is
// invoked may come behind it.
// Memory bound: 72 bytes a push, and a node of a tree for each separate time that is covered.
// Source: Z. H. Lee, U. Mathur, Efficient Decrease-and-Conquer Linearizability Monitoring, 2025,
// which sets values aside one by one; here with equal keys, removals, and one pass in the order of
// keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/support/checkers/timed_calls.h"

namespace schedq {

struct PriorityVerdict {
  bool holds = true;
  std::string explanation;  // What has no place, and which entries leave none.
  uint64_t pushes = 0;
  uint64_t pops = 0;
  uint64_t pops_of_nothing = 0;
  uint64_t removals = 0;
  // Pops that could not take effect at some instant of their call. Where calls do not overlap there
  // are none, and the judge has not been asked much.
  uint64_t pops_confined = 0;
};

// The calls of all threads; no pop or removal is pending.
PriorityVerdict JudgePriorityHistory(std::span<const std::vector<TimedCall>* const> threads);

}  // namespace schedq
