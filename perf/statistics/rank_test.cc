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

namespace {

// Twice the rank of each difference by its size, so that a mean rank is whole.
struct SignedRanks {
  std::vector<size_t> doubled;
  size_t doubled_sum_above = 0;  // Of differences above 0.
  double squares = 0;            // Of the ranks.
};

SignedRanks RankBySize(std::vector<double> differences) {
  std::erase(differences, 0.0);
  std::sort(differences.begin(), differences.end(),
            [](double left, double right) { return std::abs(left) < std::abs(right); });
  SignedRanks ranks;
  for (size_t begin = 0; begin < differences.size();) {
    size_t end = begin + 1;
    while (end < differences.size() && std::abs(differences[end]) == std::abs(differences[begin])) {
      ++end;
    }
    const size_t doubled = begin + 1 + end;
    for (size_t i = begin; i < end; ++i) {
      ranks.doubled.push_back(doubled);
      ranks.squares += static_cast<double>(doubled * doubled) / 4;
      if (differences[i] > 0) ranks.doubled_sum_above += doubled;
    }
    begin = end;
  }
  return ranks;
}

// Of all ways to give signs, those whose sum of ranks above 0 is at most, and at least, this one.
double SmallerTail(const SignedRanks& ranks) {
  size_t largest = 0;
  for (const size_t rank : ranks.doubled) largest += rank;
  std::vector<double> shares(largest + 1, 0.0);
  shares[0] = 1;
  size_t reached = 0;
  for (const size_t rank : ranks.doubled) {
    reached += rank;
    for (size_t sum = reached + 1; sum-- > 0;) {
      shares[sum] = (shares[sum] + (sum >= rank ? shares[sum - rank] : 0)) / 2;
    }
  }
  double at_most = 0;
  double at_least = 0;
  for (size_t sum = 0; sum <= largest; ++sum) {
    if (sum <= ranks.doubled_sum_above) at_most += shares[sum];
    if (sum >= ranks.doubled_sum_above) at_least += shares[sum];
  }
  return std::min(at_most, at_least);
}

}  // namespace

double SignedRankP(std::span<const double> differences) {
  const SignedRanks ranks = RankBySize({differences.begin(), differences.end()});
  if (ranks.doubled.empty()) return 1;
  if (ranks.doubled.size() <= kSignedExactMax) return std::min(1.0, 2 * SmallerTail(ranks));
  const auto count = static_cast<double>(ranks.doubled.size());
  const double middle = count * (count + 1) / 4;
  const double off = std::abs(static_cast<double>(ranks.doubled_sum_above) / 2 - middle);
  return std::min(1.0, 2 * NormalCdf(-std::max(0.0, off - 0.5) / std::sqrt(ranks.squares / 4)));
}

}  // namespace schedq
