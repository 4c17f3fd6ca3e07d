// Rank tests: does one of two samples tend to larger values (Mann-Whitney)? Do paired values differ
// (Wilcoxon's signed ranks)?
//
// Purpose: to decide whether two sets of repetitions differ, without an assumption about their
// distribution.
// Threads: pure function; any thread.
// Bounds: O(n m) time and memory for the exact distribution, used up to kExactSizeMax a sample.
// Source: Mann and Whitney (1947), Wilcoxon (1945); ties and continuity as in Lehmann,
// "Nonparametrics", sections 1 and 3.
#pragma once

#include <cstddef>
#include <span>

namespace schedq {

struct RankTest {
  // The test is exact for samples up to this size without ties, and uses the normal approximation
  // for all others.
  static constexpr size_t kExactSizeMax = 50;

  double u = 0;       // Pairs in which the first sample's value is larger; a tie counts one half.
  double p_less = 1;  // Of a u this small when the samples do not differ: first tends to less.
  double p_greater = 1;  // Of a u this large: first tends to more.
  double p_two_sided = 1;
  bool exact = false;
};

// Both samples have at least one value.
RankTest MannWhitney(std::span<const double> first, std::span<const double> second);

// The two-sided p of a sum of signed ranks this far from the middle, where each difference is as
// often above 0 as below: 1 where all are 0. Differences of 0 do not count. The test is exact, ties
// included, for up to kSignedExactMax differences, and uses the normal approximation beyond.
inline constexpr size_t kSignedExactMax = 200;
double SignedRankP(std::span<const double> differences);

}  // namespace schedq
