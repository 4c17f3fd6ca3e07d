// Goal: every curve can be drawn, is the same for one seed, and costs nothing between cores where
// there is one; times follow from counts as the formula says.
// Method: each contestant on few operations; predictions worked out by hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "bench/lab/scale/cache_lines.h"
#include "bench/lab/scale/scale_curve.h"
#include "bench/lab/scale/scale_path.h"
#include "perf/documents/scale_document.h"
#include "perf/statistics/measurement.h"

namespace schedq::scale {
namespace {

TEST(ScalePaths, OneThreadHasAllLinesAndOthersMoveThem) {
  std::set<std::string> names;
  for (const ScaleContestant& one : AllContestants()) {
    SCOPED_TRACE(one.path + "/" + one.name);
    EXPECT_TRUE(names.insert(one.path + "/" + one.name).second) << "a name stands for one curve";
    const LineCounts alone = one.count({1, 500, 1});
    EXPECT_EQ(alone.operations, 500u);
    EXPECT_EQ(alone.transfers, 0u);
    EXPECT_EQ(alone.contended_updates, 0u);
    EXPECT_GT(alone.lines, alone.operations) << "it touches memory";
    const LineCounts four = one.count({4, 500, 1});
    EXPECT_EQ(four.operations, 500u);
    EXPECT_GT(four.transfers, 0u);
    EXPECT_GE(four.updates, four.contended_updates);
    // All of them come to a structure's first use at one time.
    EXPECT_GE(one.count({kVirtualThreadsMax, kVirtualThreadsMax, 1}).operations, 64u);
  }
}

TEST(ScalePaths, TheSameSeedGivesTheSameCurve) {
  for (const ScaleContestant& one : AllContestants()) {
    SCOPED_TRACE(one.path + "/" + one.name);
    const auto counted = [&one](uint64_t seed) {
      const LineCounts counts = one.count({8, 400, seed});
      return std::vector<uint64_t>{
          counts.accesses,  counts.updates,          counts.contended_updates,
          counts.transfers, counts.invalidations,    counts.retries,
          counts.lines,     counts.hottest_transfers};
    };
    EXPECT_EQ(counted(5), counted(5));
  }
}

TEST(ScalePaths, RealThreadsDoTheSame) {
  for (const ScaleContestant& one : AllContestants()) {
    SCOPED_TRACE(one.path + "/" + one.name);
    for (const uint32_t threads : {1u, 2u}) EXPECT_GT(one.measure({threads, 200, 1}), 0);
  }
}

ScalePoint PointWith(uint64_t threads) {
  return {.threads = threads,
          .operations = 1000,
          .transfers = 6,
          .updates = 10,
          .lines = 12,
          .hottest_transfers = 2};
}

TEST(ScaleCurve, TimesFollowFromCounts) {
  const UnitCosts costs{.atomic_ns = 5, .miss_ns = 10, .transfer_ns = 50};
  EXPECT_DOUBLE_EQ(Predict(costs, 300, false, PointWith(1)).predicted_ns, 10 * 5 + 12 * 10);
  // Few threads: each takes its time. (300 + 6 x 50) / 2.
  EXPECT_DOUBLE_EQ(Predict(costs, 300, false, PointWith(2)).predicted_ns, 300);
  // Many threads wait for one line: 2 x 50.
  EXPECT_DOUBLE_EQ(Predict(costs, 300, false, PointWith(64)).predicted_ns, 100);
  // Behind one lock nothing overlaps.
  EXPECT_DOUBLE_EQ(Predict(costs, 300, true, PointWith(64)).predicted_ns, 400);
}

TEST(ScaleCurve, CostsNeedEachFigureAndTakeTheLargestWorkingSet) {
  const auto figure = [](const char* name, uint64_t bytes, double value) {
    Measurement one{
        .name = name, .about = "", .unit = "ns", .parameters = {}, .repetitions = {value}};
    if (bytes != 0) one.parameters["bytes"] = bytes;
    return one;
  };
  std::vector<Measurement> floor = {figure("random_miss", 1 << 20, 8),
                                    figure("atomic_add_uncontended", 0, 5),
                                    figure("random_miss", 1 << 22, 20)};
  EXPECT_FALSE(UnitCostsFrom(floor).has_value()) << "one core cannot measure a transfer";
  floor.push_back(figure("line_transfer_one_way", 0, 60));
  const auto costs = UnitCostsFrom(floor);
  ASSERT_TRUE(costs.has_value());
  EXPECT_EQ(costs->miss_ns, 20);
  EXPECT_EQ(costs->transfer_ns, 60);
}

TEST(ScaleCurve, PointsAreCountsAnOperation) {
  LineCounts counts;
  counts.operations = 4;
  counts.transfers = 10;
  counts.retries = 1;
  const ScalePoint point = PointOf(8, counts);
  EXPECT_EQ(point.threads, 8u);
  EXPECT_DOUBLE_EQ(point.transfers, 2.5);
  EXPECT_DOUBLE_EQ(point.retries, 0.25);
}

}  // namespace
}  // namespace schedq::scale
