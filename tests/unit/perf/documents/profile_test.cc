// Goal: a series has the fit of each measurement that can be fitted, and no other.
// Method: costs that grow by known powers.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "perf/documents/profile_document.h"
#include "perf/statistics/measurement.h"

namespace schedq {
namespace {

Measurement MeasurementOf(const std::string& name, std::vector<double> values) {
  Measurement one;
  one.name = name;
  one.repetitions = std::move(values);
  return one;
}

ProfileSeries SeriesOf(size_t size_count) {
  ProfileSeries series;
  for (size_t i = 0; i < size_count; ++i) {
    const double size = std::pow(10, static_cast<double>(i) + 1);
    series.points.push_back({static_cast<uint64_t>(size),
                             5,
                             {MeasurementOf("time", {3 * size * size, 3 * size * size}),
                              MeasurementOf("flat", {7}), MeasurementOf("none", {0})}});
  }
  return series;
}

TEST(ProfileDocumentTest, FitsKnownPowers) {
  const std::vector<ProfileFit> fits = FitSeries(SeriesOf(4));
  ASSERT_EQ(fits.size(), 2u);
  EXPECT_EQ(fits[0].measurement, "time");
  EXPECT_NEAR(fits[0].exponent, 2, 1e-9);
  EXPECT_NEAR(fits[0].factor, 3, 1e-6);
  EXPECT_EQ(fits[0].points, 8u);
  EXPECT_EQ(fits[0].size_min, 10u);
  EXPECT_EQ(fits[0].size_max, 10'000u);
  EXPECT_EQ(fits[1].measurement, "flat");
  EXPECT_EQ(fits[1].exponent, 0);
  EXPECT_EQ(fits[1].exponent_high, 0);
}

TEST(ProfileDocumentTest, TwoSizesGiveNoExponent) {
  EXPECT_TRUE(FitSeries(SeriesOf(2)).empty());
  EXPECT_TRUE(FitSeries(ProfileSeries()).empty());
}

}  // namespace
}  // namespace schedq
