// Where a series of measurements changed its distribution, and how sure that is.
//
// Purpose: `schedq history`. One value a commit, noise that no two values share, and a few commits
// at which something changed.
// When not to use it: for two sets of values of which is known where one ends; comparison.h says
// more of those.
// Threads: pure functions; any thread. One seed gives the same points on every machine.
// Bounds: kSeriesMax values; O(n^2) memory, O(n^2) time a permutation. A segment in which nothing
// changed needs a few permutations, one with a change all of them.
// Source: E-divisive by permutation, with exponent 1: Matteson and James, "A Nonparametric Approach
// for Multiple Change Point Analysis of Multivariate Data" (2014).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace schedq {

inline constexpr size_t kSeriesMax = 1000;

struct ChangePointOptions {
  double significance = 0.001;  // Of each point.
  uint64_t permutations = 1999;
  size_t segment_min = 3;  // Values between two points.
  uint64_t seed = 1;
};

struct ChangePoint {
  size_t index = 0;  // Of the first value behind the change.
  double p = 1;      // The share of permutations that look as much like a change, itself included.
};

// In the order of the series. Each was significant within its segment when it was found: the most
// divergent place first, then within what lies on both sides of it.
std::vector<ChangePoint> FindChangePoints(std::span<const double> series,
                                          const ChangePointOptions& options = {});

}  // namespace schedq
