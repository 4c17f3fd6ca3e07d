// The number of the last move of members that observers were told of, by the number of their name.
//
// Purpose: the moves of a name are numbered in one order (PodMove), whether its pods are members or
// single pods. A member's numbers grow with the groups' state, a single pod's with its slot. A pod
// that takes a name over goes on from where the other one ended.
// Threads: any, lock-free.
// Memory: four bytes a name, where there are observers; else nothing.
#pragma once

#include <cstdint>

#include "engine/base/segmented_array.h"
#include "engine/pod_key.h"

namespace schedq {

// Of two that grow modulo 2^32, as observers compare them; 0 is none.
inline uint32_t LaterNumber(uint32_t a, uint32_t b) {
  if (a == 0 || b == 0) return a | b;
  return static_cast<int32_t>(b - a) < 0 ? a : b;
}

template <template <typename> class Atom>
class ToldNumbers {
 public:
  // Before others can see the move. Each failed exchange means that another thread raised it.
  void Raise(PodId pod, uint32_t number) {
    numbers_.ReserveThrough(pod);
    uint32_t known = numbers_[pod].load();
    while (known != number && LaterNumber(known, number) == number &&
           !numbers_[pod].compare_exchange_weak(known, number)) {
    }
  }
  // 0: nobody was told of a member of this name.
  uint32_t LastOf(PodId pod) const {
    const Atom<uint32_t>* const number = numbers_.Find(pod);
    return number == nullptr ? 0 : number->load();
  }

 private:
  // Each is written by threads that are about to publish a change of the groups, and may be read
  // stale by a thread that comes to the name before the change is published.
  SegmentedArray<Atom<uint32_t>, Atom> numbers_{10};
};

}  // namespace schedq
