// How many schedules it takes to find a fault, by several ways of choosing them.
//
// Purpose: ci/mutants --schedules compares ways to search on planted mutants. With
// SCHEDQ_MODEL_SEARCH set, every exploration of a model program counts its schedules, and the
// program ends at the first fault and says how many there were:
//   bounded                   schedules as the test says: all within its bounds, or its seeds
//   random:SEED:SCHEDULES     threads switch at random; so many schedules an exploration, from SEED
//   priorities:SEED:SCHEDULES threads have random priorities with a few changes (choice.h, Seeded)
// When not to use it: to test. What a test expects of a report does not count here.
// Allowed threads: one.
#pragma once

#include <cstdint>

namespace schedq::model {

struct Search {
  enum class Way : uint8_t { kNone, kBounded, kRandom, kPriorities };
  static constexpr int kExitFound = 42;

  Way way = Way::kNone;
  uint64_t first_seed = 1;
  uint64_t schedules = 0;

  // What the environment asks for, read once.
  static const Search& Wanted();

  // Whether schedules are drawn instead of those that the test says.
  bool Draws() const { return way == Way::kRandom || way == Way::kPriorities; }
  // Counts a schedule; the program ends if it has failed.
  void Count(bool has_failed) const;
};

}  // namespace schedq::model
