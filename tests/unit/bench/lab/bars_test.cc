// Goal: a bar's verdict follows its rule, a floor is computed from measured probes, and every row
// of the table names a group of benchmarks that exists or a part that is not built.
// Method: groups and probes made by hand; the real table against the real list of benchmarks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/lab/bars/bar.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/suites.h"
#include "perf/documents/bars_document.h"
#include "perf/documents/bench_document.h"
#include "perf/statistics/measurement.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSubsetOf;

BenchContender Contender(const std::string& name, ContenderRole role, double value) {
  BenchContender one;
  one.name = name;
  one.role = role;
  one.repetitions = {value, value * 2, value / 2};
  return one;
}

BenchCase GroupOf(double product, double classic, double rival, double control) {
  BenchCase group;
  group.contenders = {Contender("product", ContenderRole::kProduct, product),
                      Contender("classic", ContenderRole::kClassic, classic),
                      Contender("rival", ContenderRole::kRival, rival),
                      Contender("control", ContenderRole::kControl, control)};
  return group;
}

Bar BarOf(BarKind kind, double limit, std::optional<double> aim = std::nullopt) {
  Bar bar;
  bar.path = "path";
  bar.kind = kind;
  bar.limit = limit;
  bar.aim = aim;
  bar.reason = "because";
  return bar;
}

BarVerdict VerdictOf(const Bar& bar, const BenchCase& group) {
  return JudgeBar(bar, &group, {}).verdict;
}

TEST(BarsTest, AtMost) {
  const Bar bar = BarOf(BarKind::kAtMost, 300, 100);
  EXPECT_EQ(VerdictOf(bar, GroupOf(100, 1, 1, 1)), BarVerdict::kAim);
  EXPECT_EQ(VerdictOf(bar, GroupOf(300, 1, 1, 1)), BarVerdict::kMet);
  const BenchCase slow = GroupOf(400, 200, 100, 1);
  const BarRow row = JudgeBar(bar, &slow, {});
  EXPECT_EQ(row.verdict, BarVerdict::kShort);
  EXPECT_EQ(row.reason, "because");
  EXPECT_EQ(*row.measured, 400);
  EXPECT_EQ(*row.to_bar, 0.75);
  EXPECT_EQ(row.rival, "rival");
  EXPECT_EQ(*row.rival_measured, 100);
}

TEST(BarsTest, ALimitOfZeroIsHeldByZeroOnly) {
  const Bar bar = BarOf(BarKind::kAtMost, 0);
  EXPECT_EQ(VerdictOf(bar, GroupOf(0, 1, 1, 1)), BarVerdict::kMet);
  EXPECT_EQ(VerdictOf(bar, GroupOf(0.01, 1, 1, 1)), BarVerdict::kShort);
}

TEST(BarsTest, TimesTheBestRival) {
  const Bar bar = BarOf(BarKind::kTimesRival, 2, 3);
  EXPECT_EQ(VerdictOf(bar, GroupOf(10, 500, 30, 1)), BarVerdict::kAim);
  EXPECT_EQ(VerdictOf(bar, GroupOf(10, 500, 20, 1)), BarVerdict::kMet);
  EXPECT_EQ(VerdictOf(bar, GroupOf(10, 19, 500, 1)), BarVerdict::kShort);
}

TEST(BarsTest, TimesTheControlAndAboveClassic) {
  Bar bar = BarOf(BarKind::kTimesControl, 1.5, 1.1);
  EXPECT_EQ(VerdictOf(bar, GroupOf(110, 100, 1, 100)), BarVerdict::kAim);
  EXPECT_EQ(VerdictOf(bar, GroupOf(150, 100, 1, 100)), BarVerdict::kMet);
  EXPECT_EQ(VerdictOf(bar, GroupOf(151, 100, 1, 100)), BarVerdict::kShort);
  bar.beats_classic = true;
  const BenchCase lost = GroupOf(110, 100, 1, 100);
  EXPECT_EQ(JudgeBar(bar, &lost, {}).verdict, BarVerdict::kShort);
  EXPECT_THAT(JudgeBar(bar, &lost, {}).reason, HasSubstr("classic is faster"));
}

TEST(BarsTest, TheReasonNamesWhatIsMissing) {
  const Bar bar = BarOf(BarKind::kTimesRival, 2);
  EXPECT_EQ(JudgeBar(bar, nullptr, {}).verdict, BarVerdict::kNotBuilt);
  BenchCase group = GroupOf(10, 20, 30, 40);
  group.contenders[0].repetitions.clear();
  EXPECT_EQ(VerdictOf(bar, group), BarVerdict::kNotMeasured);
  group.contenders = {Contender("product", ContenderRole::kProduct, 10)};
  EXPECT_EQ(VerdictOf(bar, group), BarVerdict::kNotMeasured);
}

TEST(BarsTest, FloorsAreComputedFromProbes) {
  Bar bar = BarOf(BarKind::kAtMost, 1);
  bar.floor = {{2, "atomic"}, {3, "miss", 4096}, {128, "read"}};
  std::vector<Measurement> probes = {{"atomic", "", "ns", {}, {5, 5, 5}},
                                     {"miss", "", "ns", {{"bytes", 64}}, {1}},
                                     {"miss", "", "ns", {{"bytes", 4096}}, {100}},
                                     {"read", "", "GB/s", {}, {16}}};
  const std::optional<Floor> floor = FloorOf(bar, probes);
  ASSERT_TRUE(floor.has_value());
  EXPECT_DOUBLE_EQ(floor->value, 2 * 5 + 3 * 100 + 128 / 16);
  EXPECT_EQ(floor->arithmetic,
            "2 atomic x 5.00 ns + 3 miss in 4.00 KiB x 100 ns + 128 bytes at 16.0 GB/s");
  probes.pop_back();
  EXPECT_FALSE(FloorOf(bar, probes).has_value());
}

TEST(BarsTest, AllowanceIsMeasuredAndRaisesTheLimit) {
  Bar bar = BarOf(BarKind::kAtMost, 100);
  bar.allowance = {{2, "random_miss", 64}};
  Measurement miss;
  miss.name = "random_miss";
  miss.unit = "ns";
  miss.parameters = {{"bytes", 64}};
  miss.repetitions = {150, 150, 150};
  const BenchCase group = GroupOf(400, 1, 1, 1);
  const BarRow row = JudgeBar(bar, &group, {miss});
  EXPECT_EQ(row.verdict, BarVerdict::kMet);
  EXPECT_EQ(*row.to_bar, 1);
  EXPECT_THAT(row.bar, HasSubstr("2 random_miss"));
  EXPECT_EQ(JudgeBar(bar, &group, {}).verdict, BarVerdict::kShort) << "the probe has no figure";
}

std::set<std::string> GroupsWithoutBenchmarks(bool is_tiny) {
  std::set<std::string> known;
  const BenchmarkList list = AllBenchmarks(is_tiny ? BenchmarkSize::kTiny : BenchmarkSize::kFull);
  for (const BenchmarkCase& one : list.cases()) known.insert(one.group);
  std::set<std::string> missing;
  for (const Bar& bar : AllBars(is_tiny)) {
    if (known.count(bar.group) == 0) missing.insert(bar.group);
  }
  return missing;
}

// Without this test a bar whose group was renamed would read "not built".
TEST(BarsTest, EveryRowNamesItsGroup) {
  EXPECT_THAT(GroupsWithoutBenchmarks(/*is_tiny=*/false),
              IsSubsetOf({"hints/claim_index/1000000_claims/2_threads"}));
  EXPECT_THAT(GroupsWithoutBenchmarks(/*is_tiny=*/true),
              IsSubsetOf({"hints/claim_index/1000_claims/2_threads"}));
}

}  // namespace
}  // namespace schedq
