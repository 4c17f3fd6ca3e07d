#include "perf/statistics/rank_test.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/result.h"
#include "perf/statistics/distribution.h"

namespace schedq {
namespace {

struct Ranks {
  double sum_of_first = 0;  // Ties share their mean rank.
  double tie_term = 0;      // Sum of t^3 - t over groups of t equal values.
};

Ranks RankBoth(std::span<const double> first, std::span<const double> second) {
  struct Value {
    double value;
    bool of_first;
  };
  std::vector<Value> all;
  all.reserve(first.size() + second.size());
  for (const double value : first) all.push_back({value, true});
  for (const double value : second) all.push_back({value, false});
  std::sort(all.begin(), all.end(),
            [](const Value& left, const Value& right) { return left.value < right.value; });
  Ranks ranks;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin + 1;
    while (end < all.size() && all[end].value == all[begin].value) ++end;
    const double mean_rank = static_cast<double>(begin + 1 + end) / 2;
    for (size_t i = begin; i < end; ++i) ranks.sum_of_first += all[i].of_first ? mean_rank : 0;
    const auto ties = static_cast<double>(end - begin);
    ranks.tie_term += ties * ties * ties - ties;
    begin = end;
  }
  return ranks;
}

// The number of orders of n and m distinct values with u inverted pairs, for u = 0 ... n m. The two
// terms are the orders whose largest value belongs to the first and to the second sample:
// count(i, j, u) = count(i - 1, j, u - j) + count(i, j - 1, u).
std::vector<double> CountOrders(size_t n, size_t m) {
  std::vector<std::vector<double>> by_first(n + 1, std::vector<double>(n * m + 1, 0.0));
  for (auto& counts : by_first) counts[0] = 1;  // j = 0: nothing to invert.
  for (size_t j = 1; j <= m; ++j) {
    for (size_t i = 1; i <= n; ++i) {
      for (size_t u = j; u <= i * j; ++u) by_first[i][u] += by_first[i - 1][u - j];
    }
  }
  return by_first[n];
}

void SetExact(RankTest& test, size_t n, size_t m) {
  const std::vector<double> counts = CountOrders(n, m);
  const auto u = static_cast<size_t>(test.u);
  double all = 0;
  double at_most = 0;
  double at_least = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    all += counts[i];
    if (i <= u) at_most += counts[i];
    if (i >= u) at_least += counts[i];
  }
  test.p_less = at_most / all;
  test.p_greater = at_least / all;
  test.exact = true;
}

void SetApproximate(RankTest& test, size_t n, size_t m, double tie_term) {
  const auto pairs = static_cast<double>(n) * static_cast<double>(m);
  const auto both = static_cast<double>(n + m);
  const double variance = pairs / 12 * (both + 1 - tie_term / (both * (both - 1)));
  if (variance <= 0) return;  // All values are equal: there is no difference.
  const double deviation = test.u - pairs / 2;
  const double scale = std::sqrt(variance);
  test.p_less = NormalCdf((deviation + 0.5) / scale);
  test.p_greater = NormalCdf(-(deviation - 0.5) / scale);
}

}  // namespace

RankTest MannWhitney(std::span<const double> first, std::span<const double> second) {
  SCHEDQ_CHECK(!first.empty() && !second.empty(), "a rank test needs values on both sides");
  const size_t n = first.size();
  const size_t m = second.size();
  const Ranks ranks = RankBoth(first, second);
  RankTest test;
  test.u = ranks.sum_of_first - static_cast<double>(n) * static_cast<double>(n + 1) / 2;
  if (ranks.tie_term == 0 && std::max(n, m) <= RankTest::kExactSizeMax) {
    SetExact(test, n, m);
  } else {
    SetApproximate(test, n, m, ranks.tie_term);
  }
  test.p_two_sided = std::min(1.0, 2 * std::min(test.p_less, test.p_greater));
  return test;
}

}  // namespace schedq
