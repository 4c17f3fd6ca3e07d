// Goal: the normal and Student's t distribution are right to the stated accuracy.
// Method: reference values computed with 30 digits, closed forms, and quantile against CDF.
#include "perf/statistics/distribution.h"

#include <gtest/gtest.h>

#include <cmath>

namespace schedq {
namespace {

TEST(PerfDistribution, NormalAgainstReference) {
  EXPECT_EQ(NormalCdf(0), 0.5);
  EXPECT_NEAR(NormalCdf(-5), 2.8665157187919391e-7, 1e-20);
  EXPECT_NEAR(NormalQuantile(0.975), 1.9599639845400539, 1e-10);
  EXPECT_NEAR(NormalQuantile(0.9), 1.2815515655446006, 1e-10);
  EXPECT_NEAR(NormalQuantile(0.999), 3.0902323061678133, 1e-10);
  EXPECT_EQ(NormalQuantile(0.5), 0);
}

TEST(PerfDistribution, StudentTAgainstReference) {
  EXPECT_NEAR(StudentTCdf(-2, 1), 0.14758361765043327, 1e-14);
  EXPECT_NEAR(StudentTCdf(1, 3), 0.80449889052211468, 1e-14);
  EXPECT_NEAR(StudentTCdf(-3.5, 10), 0.0028632527149426079, 1e-14);
  EXPECT_NEAR(StudentTCdf(2.5, 30), 0.99094217546596665, 1e-14);
  EXPECT_NEAR(StudentTCdf(0.1, 200), 0.53977775374783948, 1e-13);
  EXPECT_NEAR(StudentTQuantile(0.975, 1), 12.70620473617469, 1e-8);
  EXPECT_NEAR(StudentTQuantile(0.975, 2), 4.302652729749462, 1e-9);
  EXPECT_NEAR(StudentTQuantile(0.975, 5), 2.570581835636315, 1e-9);
  EXPECT_NEAR(StudentTQuantile(0.975, 10), 2.228138851986274, 1e-9);
  EXPECT_NEAR(StudentTQuantile(0.995, 30), 2.749995653567225, 1e-9);
}

TEST(PerfDistribution, OneDegreeOfFreedomIsCauchy) {
  for (const double t : {-40.0, -1.0, -0.01, 0.5, 3.0}) {
    EXPECT_NEAR(StudentTCdf(t, 1), 0.5 + std::atan(t) / std::acos(-1.0), 1e-14) << t;
  }
}

TEST(PerfDistribution, QuantileInvertsCdf) {
  for (const double probability : {1e-6, 0.01, 0.3, 0.5, 0.7, 0.99}) {
    EXPECT_NEAR(NormalCdf(NormalQuantile(probability)), probability, 1e-12);
    EXPECT_NEAR(StudentTCdf(StudentTQuantile(probability, 7), 7), probability, 1e-12);
  }
}

TEST(PerfDistribution, ManyDegreesOfFreedomAreNormal) {
  EXPECT_NEAR(StudentTCdf(1.5, 1e7), NormalCdf(1.5), 1e-6);
}

}  // namespace
}  // namespace schedq
