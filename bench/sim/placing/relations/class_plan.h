// What a pod of a class asks of a node, as lookups in counters.
//
// Threads: one at a time; the book's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/sim/placing/relations/pod_counter.h"

namespace schedq {

struct ClassPlan {
  struct Spread {
    const PodCounter* counter = nullptr;
    int64_t max_skew = 1;
    size_t min_domains = 1;
    bool counts_itself = false;
    bool is_by_host = false;
  };
  struct Preference {
    const PodCounter* counter = nullptr;
    int64_t weight = 0;
    bool is_required = false;  // Others require it; the profile says what that weighs.
  };

  // For each term of the required affinity: pods that match all of its terms, by that term's label.
  std::vector<const PodCounter*> near;
  bool may_be_first = false;  // It matches its own required affinity.
  // Pods that it keeps away, and pods that keep it away.
  std::vector<const PodCounter*> away;
  std::vector<Preference> preferences;
  std::vector<Spread> required_spread;
  std::vector<Spread> preferred_spread;

  // The state of the book that it was made from.
  uint64_t generation = 0;
  size_t holders = 0;

  bool AllowsNeighbours(uint32_t slot) const;
  bool AllowsSpread(uint32_t slot) const;
};

}  // namespace schedq
