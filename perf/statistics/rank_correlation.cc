#include "perf/statistics/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "engine/base/result.h"

namespace schedq {
namespace {

std::vector<double> RanksOf(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + end - 1) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
    begin = end;
  }
  return ranks;
}

}  // namespace

std::optional<double> RankCorrelation(std::span<const double> first,
                                      std::span<const double> second) {
  SCHEDQ_CHECK(first.size() == second.size(), "pairs have two sides");
  if (first.size() < 2) return std::nullopt;
  const std::vector<double> one = RanksOf(first);
  const std::vector<double> other = RanksOf(second);
  const double mean = static_cast<double>(first.size() - 1) / 2;
  double together = 0;
  double of_one = 0;
  double of_other = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    together += (one[i] - mean) * (other[i] - mean);
    of_one += (one[i] - mean) * (one[i] - mean);
    of_other += (other[i] - mean) * (other[i] - mean);
  }
  if (of_one == 0 || of_other == 0) return std::nullopt;
  return together / std::sqrt(of_one * of_other);
}

}  // namespace schedq
