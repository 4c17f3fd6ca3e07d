// Spearman's rank correlation: do two quantities order the same things alike?
//
// When not to use it: to say by how much they differ.
// Threads: pure function; any thread.
// Source: Spearman (1904), as Pearson's correlation of ranks; equal values share their mean rank.
#pragma once

#include <optional>
#include <span>

namespace schedq {

// From -1, the reverse order, to 1, the same order. nullopt: fewer than two pairs, or all values of
// a side are equal. Both sides have the same size.
std::optional<double> RankCorrelation(std::span<const double> first,
                                      std::span<const double> second);

}  // namespace schedq
