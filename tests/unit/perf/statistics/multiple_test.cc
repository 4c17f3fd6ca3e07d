// Goal: Holm's correction is right and keeps its invariants.
// Method: worked examples (R's p.adjust), then properties over seeded p-values.
#include "perf/statistics/multiple.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace schedq {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

TEST(PerfMultiple, WorkedExample) {
  // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02.
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005}),
              Pointwise(DoubleNear(1e-15), {0.03, 0.06, 0.06, 0.02}));
}

TEST(PerfMultiple, OneTestAndNoTest) {
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.2}), testing::ElementsAre(0.2));
  EXPECT_TRUE(HolmAdjusted({}).empty());
}

TEST(PerfMultiple, NeverBelowRawNeverAboveOneAndMonotone) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (size_t size = 1; size <= 40; ++size) {
    std::vector<double> raw(size);
    for (double& p : raw) p = uniform(random);
    const std::vector<double> adjusted = HolmAdjusted(raw);
    for (size_t i = 0; i < size; ++i) {
      ASSERT_GE(adjusted[i], raw[i]);
      ASSERT_LE(adjusted[i], std::min(1.0, static_cast<double>(size) * raw[i]));
      for (size_t j = 0; j < size; ++j) {
        ASSERT_TRUE(raw[i] >= raw[j] || adjusted[i] <= adjusted[j]);
      }
    }
  }
}

TEST(PerfMultiple, FamilyWiseErrorStaysAtTheLevel) {
  // Each family has 20 true null hypotheses. In about 5 % of the families at least one is called
  // significant (1 - 0.9975^20 = 4.9 %); without correction it would be 64 %.
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  int alarms = 0;
  constexpr int kFamilies = 4000;
  for (int family = 0; family < kFamilies; ++family) {
    std::vector<double> raw(20);
    for (double& p : raw) p = uniform(random);
    const std::vector<double> adjusted = HolmAdjusted(raw);
    alarms += *std::min_element(adjusted.begin(), adjusted.end()) < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(alarms) / kFamilies, 0.049, 0.011);
}

}  // namespace
}  // namespace schedq
