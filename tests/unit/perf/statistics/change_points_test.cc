// Goal: change points are found where a series changed, and hardly ever where it did not.
// Method: seeded noise with and without steps; rates over many seeds; Otava's figures (p 0.001).
#include "perf/statistics/change_points.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace schedq {
namespace {

// Each step is a level and how many values it has.
struct Step {
  double level;
  size_t count;
};

std::vector<double> Series(uint64_t seed, double noise, const std::vector<Step>& steps) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> distribution(0, noise);
  std::vector<double> values;
  for (const Step& step : steps) {
    for (size_t i = 0; i < step.count; ++i) values.push_back(step.level + distribution(random));
  }
  return values;
}

std::vector<size_t> Found(const std::vector<double>& series) {
  std::vector<size_t> indexes;
  for (const ChangePoint& point : FindChangePoints(series)) indexes.push_back(point.index);
  return indexes;
}

TEST(PerfChangePoints, AStepIsFoundWhereItIs) {
  EXPECT_EQ(Found(Series(1, 1, {{100, 20}, {108, 20}})), std::vector<size_t>{20});
  EXPECT_EQ(Found(Series(2, 1, {{100, 15}, {110, 15}, {104, 15}})), (std::vector<size_t>{15, 30}));
  // What is taken back later does not hide itself.
  EXPECT_EQ(Found(Series(3, 1, {{100, 20}, {110, 10}, {100, 20}})), (std::vector<size_t>{20, 30}));
}

TEST(PerfChangePoints, NothingIsFoundInWhatIsConstantOrShort) {
  EXPECT_TRUE(Found({}).empty());
  EXPECT_TRUE(Found({1, 2, 3}).empty());
  EXPECT_TRUE(Found(std::vector<double>(40, 7.0)).empty());
  EXPECT_TRUE(Found({1, 1, 1, 9, 9, 9}).empty()) << "2 of 20 orders are as extreme";
}

TEST(PerfChangePoints, AnOutlierIsNoChange) {
  std::vector<double> series = Series(4, 1, {{100, 40}});
  series[17] = 150;
  EXPECT_TRUE(Found(series).empty());
}

TEST(PerfChangePoints, NoiseAloneSeldomLooksLikeAChange) {
  int alarms = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    alarms += Found(Series(seed, 3, {{100, 25}})).empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, 2);
}

TEST(PerfChangePoints, OneSeedGivesTheSamePoints) {
  const std::vector<double> series = Series(5, 2, {{100, 20}, {106, 20}});
  const std::vector<ChangePoint> once = FindChangePoints(series);
  const std::vector<ChangePoint> again = FindChangePoints(series);
  ASSERT_EQ(once.size(), 1u);
  EXPECT_EQ(once[0].p, again[0].p);
  EXPECT_LE(once[0].p, 0.001);
}

}  // namespace
}  // namespace schedq
