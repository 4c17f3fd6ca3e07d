// Goal: the Mann-Whitney test gives published p-values, exact and approximate.
// Method: worked examples of R's and SciPy's manuals; full enumeration of all orders for small
// samples; a generating function with exact integers for large ones (computed offline).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "perf/statistics/rank_test.h"

namespace schedq {
namespace {

// P(U <= u) over all ways to choose the first sample's ranks among n + m.
double EnumeratedAtMost(unsigned n, unsigned m, unsigned u) {
  uint64_t all = 0;
  uint64_t at_most = 0;
  for (uint32_t chosen = 0; chosen < (1u << (n + m)); ++chosen) {
    if (std::popcount(chosen) != static_cast<int>(n)) continue;
    unsigned larger = 0;
    for (unsigned i = 0; i < n + m; ++i) {
      const uint32_t below = (1u << i) - 1;
      if ((chosen >> i & 1) != 0) larger += static_cast<unsigned>(std::popcount(~chosen & below));
    }
    ++all;
    at_most += larger <= u ? 1 : 0;
  }
  return static_cast<double>(at_most) / static_cast<double>(all);
}

// Samples without ties in which exactly u pairs have the larger value first.
std::pair<std::vector<double>, std::vector<double>> SamplesWithU(size_t n, size_t m, size_t u) {
  std::vector<double> first(n);
  std::vector<double> second(m);
  for (size_t j = 0; j < m; ++j) second[j] = static_cast<double>(j + 1);
  for (size_t i = 0; i < n; ++i) {
    const size_t above = std::min(m, u);
    u -= above;
    first[i] = static_cast<double>(above) + static_cast<double>(i + 1) / static_cast<double>(n + 2);
  }
  return {first, second};
}

TEST(PerfMannWhitney, PermeabilityExampleOfRsManual) {
  const std::vector<double> term = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const std::vector<double> weeks = {1.15, 0.88, 0.90, 0.74, 1.21};
  const RankTest test = MannWhitney(term, weeks);
  EXPECT_TRUE(test.exact);
  EXPECT_EQ(test.u, 35);
  EXPECT_NEAR(test.p_greater, 382.0 / 3003, 1e-14);  // The manual prints 0.1272.
  EXPECT_NEAR(test.p_less, 2693.0 / 3003, 1e-14);
  EXPECT_NEAR(test.p_two_sided, 764.0 / 3003, 1e-14);
}

TEST(PerfMannWhitney, AgeExampleOfSciPysManual) {
  const RankTest test =
      MannWhitney(std::vector<double>{19, 22, 16, 29, 24}, std::vector<double>{20, 11, 17, 12});
  EXPECT_EQ(test.u, 17);
  EXPECT_NEAR(test.p_two_sided, 14.0 / 126, 1e-14);
}

TEST(PerfMannWhitney, ExactEqualsEnumeration) {
  for (const auto& [n, m] : std::vector<std::pair<unsigned, unsigned>>{{1, 1}, {2, 5}, {5, 6}}) {
    for (unsigned u = 0; u <= n * m; ++u) {
      const auto [first, second] = SamplesWithU(n, m, u);
      const RankTest test = MannWhitney(first, second);
      ASSERT_TRUE(test.exact);
      ASSERT_EQ(test.u, u);
      ASSERT_NEAR(test.p_less, EnumeratedAtMost(n, m, u), 1e-14) << n << " " << m << " " << u;
    }
  }
}

TEST(PerfMannWhitney, ExactForLargerSamples) {
  const auto [first, second] = SamplesWithU(20, 25, 170);
  EXPECT_NEAR(MannWhitney(first, second).p_less, 0.03454382299251212, 1e-14);
  const auto [fifty, others] = SamplesWithU(50, 50, 950);
  EXPECT_NEAR(MannWhitney(fifty, others).p_less, 0.019285998500826592, 1e-13);
}

TEST(PerfMannWhitney, TiesUseTheCorrectedApproximation) {
  const RankTest test = MannWhitney(std::vector<double>{1, 2, 2, 3, 5, 5, 7},
                                    std::vector<double>{2, 3, 4, 5, 6, 6, 7, 8, 9});
  EXPECT_FALSE(test.exact);
  EXPECT_EQ(test.u, 16);
  EXPECT_NEAR(test.p_less, 0.0547140955160092, 1e-13);
  EXPECT_NEAR(test.p_greater, 0.95613416354812, 1e-13);
  EXPECT_NEAR(test.p_two_sided, 0.109428191032018, 1e-13);
}

TEST(PerfMannWhitney, ApproximationMeetsTheExactOneWhereTheyChange) {
  const auto [first, second] = SamplesWithU(51, 51, 1000);
  const RankTest approximate = MannWhitney(first, second);
  EXPECT_FALSE(approximate.exact);
  const auto [smaller, others] = SamplesWithU(50, 50, 961);  // The same distance in deviations.
  const RankTest exact = MannWhitney(smaller, others);
  EXPECT_TRUE(exact.exact);
  EXPECT_NEAR(approximate.p_less, exact.p_less, 0.001);
}

TEST(PerfMannWhitney, SwappingTheSamplesSwapsTheSides) {
  const std::vector<double> low = {1, 2, 3, 4, 9};
  const std::vector<double> high = {5, 6, 7, 8};
  const RankTest one = MannWhitney(low, high);
  const RankTest other = MannWhitney(high, low);
  EXPECT_EQ(one.u + other.u, 20);
  EXPECT_DOUBLE_EQ(one.p_less, other.p_greater);
  EXPECT_DOUBLE_EQ(one.p_two_sided, other.p_two_sided);
}

TEST(PerfMannWhitney, EqualValuesShowNoDifference) {
  const std::vector<double> same(12, 3.5);
  EXPECT_EQ(MannWhitney(same, same).p_two_sided, 1);
  EXPECT_EQ(MannWhitney(std::vector<double>{1}, std::vector<double>{2}).p_two_sided, 1);
}

TEST(PerfMannWhitney, TenRoundsCanReachAHundredMetrics) {
  // In the gate's smallest run, fully separated samples of ten are below 0.01 after Holm's
  // correction.
  const auto [first, second] = SamplesWithU(10, 10, 0);
  EXPECT_NEAR(MannWhitney(first, second).p_two_sided, 2.0 / 184756, 1e-15);
}

}  // namespace
}  // namespace schedq
