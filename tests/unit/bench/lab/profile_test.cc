// Goal: a profile fits the growth of costs, ends a series that would take too long, refuses wrong
// answers, and names the functions that take time and instructions.
// Method: subjects with known operations and faults; a loop that uses time under a known name; a
// text in callgrind's format; and every shipped kind at small sizes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bench/lab/paths/measured_path.h"
#include "bench/lab/profile/callgrind.h"
#include "bench/lab/profile/instruction_counts.h"
#include "bench/lab/profile/profile_kind.h"
#include "bench/lab/profile/profiler.h"
#include "bench/lab/profile/symbols.h"
#include "bench/lab/profile/time_sampler.h"
#include "engine/base/result.h"
#include "perf/documents/profile_document.h"
#include "perf/documents/scenario_document.h"
#include "perf/statistics/measurement.h"

namespace schedq {

// Uses time for the sampler. It is not inlined, so that the test finds its name.
[[gnu::noinline]] void UseTimeForTheSampler(std::chrono::milliseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  volatile uint64_t turns = 0;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 10'000; ++i) turns = turns + 1;
  }
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CountingPath : public MeasuredPath {
 public:
  CountingPath(uint64_t size, uint64_t operations, const char* fault)
      : size_(size), operations_(operations), fault_(fault) {}

  void Run() override {}
  PathOutcome Outcome() override { return {operations_, size_ * operations_ / 2, fault_}; }

 private:
  const uint64_t size_;
  const uint64_t operations_;
  const char* const fault_;
};

ProfileKind KindOf(std::function<MeasuredPathRef(uint64_t, uint64_t)> prepare) {
  ProfileKind kind;
  kind.name = "test";
  kind.size_of = "things";
  kind.subjects = {{"engine/variant", "event", true, std::move(prepare)}};
  return kind;
}

ProfilerOptions OptionsFor(std::vector<uint64_t> sizes) {
  ProfilerOptions options;
  options.sizes = std::move(sizes);
  options.rounds = 2;
  options.samples_time = false;
  return options;
}

void NoProgress(const std::string&, uint64_t, uint64_t) {}

const ProfileFit* FitOf(const ProfileSeries& series, const std::string& measurement) {
  for (const ProfileFit& fit : series.fits) {
    if (fit.measurement == measurement) return &fit;
  }
  return nullptr;
}

TEST(ProfilerTest, FitsWhatGrowsWithTheSize) {
  const ProfileKind kind = KindOf(
      [](uint64_t size, uint64_t) { return std::make_unique<CountingPath>(size, 10, nullptr); });
  const ProfilerResult result = Profile(kind, OptionsFor({10, 20, 40}), NoProgress);
  EXPECT_THAT(result.faults, IsEmpty());
  ASSERT_THAT(result.series, SizeIs(1));
  const ProfileSeries& series = result.series[0];
  ASSERT_THAT(series.points, SizeIs(3));
  EXPECT_EQ(series.points[2].size, 40u);
  EXPECT_EQ(series.points[2].operations, 10u);
  const ProfileFit* fit = FitOf(series, "pods_judged");
  ASSERT_NE(fit, nullptr);
  EXPECT_NEAR(fit->exponent, 1, 1e-9);
  EXPECT_NEAR(fit->factor, 0.5, 1e-9);
  EXPECT_EQ(fit->points, 6u);
  EXPECT_EQ(fit->size_max, 40u);
}

TEST(ProfilerTest, WrongAnswersAreFaultsAndNotRecorded) {
  const ProfileKind kind = KindOf([](uint64_t size, uint64_t) {
    return std::make_unique<CountingPath>(size, 10, size == 20 ? "lost one" : nullptr);
  });
  const ProfilerResult result = Profile(kind, OptionsFor({10, 20, 40}), NoProgress);
  EXPECT_THAT(result.faults,
              ElementsAre("engine/variant at 20: lost one", "engine/variant at 20: lost one"));
  ASSERT_THAT(result.series[0].points, SizeIs(2));
  EXPECT_THAT(result.series[0].fits, IsEmpty());
}

class SlowPath : public CountingPath {
 public:
  using CountingPath::CountingPath;
  void Run() override { UseTimeForTheSampler(std::chrono::milliseconds(20)); }
};

TEST(ProfilerTest, StopsBeforeASizeThatWouldTakeTooLong) {
  const ProfileKind kind =
      KindOf([](uint64_t size, uint64_t) { return std::make_unique<SlowPath>(size, 1, nullptr); });
  ProfilerOptions options = OptionsFor({1, 10});
  options.rounds = 1;
  options.run_seconds_max = 0.5;
  const ProfilerResult result = Profile(kind, options, NoProgress);
  EXPECT_THAT(result.series[0].points, SizeIs(1));
  EXPECT_THAT(result.series[0].stopped, HasSubstr("10 would take about"));
  EXPECT_THAT(result.series[0].stopped, HasSubstr("beyond the limit of 0.5 s"));
}

TEST(ProfilerTest, ForecastsFromTheLastGrowth) {
  EXPECT_EQ(ForecastSeconds({}, 100), 0);
  EXPECT_NEAR(ForecastSeconds({{10, 1}}, 20), 4, 1e-9);
  EXPECT_NEAR(ForecastSeconds({{5, 100}, {10, 1}, {20, 2}}, 40), 4, 1e-9);
  EXPECT_NEAR(ForecastSeconds({{10, 1}, {20, 8}}, 40), 64, 1e-9);
}

TEST(ProfilerTest, ForecastsMemoryFromWhatEachFurtherElementTook) {
  EXPECT_EQ(ForecastBytes({}, 100), 0);
  EXPECT_EQ(ForecastBytes({{10, 1e9}}, 1000), 0) << "what is fixed does not grow";
  EXPECT_NEAR(ForecastBytes({{10, 1010}, {20, 1020}}, 100), 1100, 1e-9);
  EXPECT_NEAR(ForecastBytes({{10, 1010}, {20, 1000}}, 100), 1000, 1e-9) << "noise";
}

TEST(ProfilerTest, ASeriesWithoutMemoryStopsAndKeepsItsSmallerSizes) {
  const ProfileKind kind = KindOf([](uint64_t size, uint64_t) {
    if (size == 40) throw std::bad_alloc();
    return std::make_unique<CountingPath>(size, 10, nullptr);
  });
  const ProfilerResult result = Profile(kind, OptionsFor({10, 20, 40, 80}), NoProgress);
  EXPECT_THAT(result.series[0].points, SizeIs(2));
  EXPECT_EQ(result.series[0].stopped, "memory ran out at 40");
}

TEST(ProfilerTest, TellsWhatIsFinishedAfterEachRun) {
  const ProfileKind kind = KindOf(
      [](uint64_t size, uint64_t) { return std::make_unique<CountingPath>(size, 10, nullptr); });
  ProfilerOptions options = OptionsFor({10, 20});
  std::vector<size_t> points;
  options.keep = [&points](const std::vector<ProfileSeries>& finished) {
    points.push_back(finished.at(0).points.size());
  };
  EXPECT_THAT(Profile(kind, options, NoProgress).series, SizeIs(1));
  EXPECT_THAT(points, ElementsAre(1u, 1u, 2u, 2u));
}

TEST(ProfilerTest, EveryKindThatShipsAnswersRight) {
  for (const ProfileKind& kind : AllProfileKinds()) {
    SCOPED_TRACE(kind.name);
    const ProfilerResult result = Profile(kind, OptionsFor({20, 40, 80}), NoProgress);
    EXPECT_THAT(result.faults, IsEmpty());
    EXPECT_EQ(result.series.size(), kind.subjects.size());
    for (const ProfileSeries& series : result.series) {
      SCOPED_TRACE(series.name);
      EXPECT_THAT(series.points, SizeIs(3));
      const ProfileFit* judged = FitOf(series, "pods_judged");
      if (judged == nullptr || kind.name == "groups") continue;
      const bool is_narrowed = series.name.ends_with("/narrowed");
      EXPECT_NEAR(judged->exponent, is_narrowed ? 0 : 1, 0.1);
      EXPECT_EQ(judged->factor == 1, is_narrowed);
    }
  }
}

std::vector<double> JudgedAtEachSize(const ProfileSeries& series) {
  std::vector<double> judged;
  for (const ProfilePoint& point : series.points) {
    for (const Measurement& one : point.measurements) {
      if (one.name == "pods_judged") judged.push_back(one.repetitions.front());
    }
  }
  return judged;
}

// What plugins are asked about members is part of what both engines do. Sizes that leave a gang
// with fewer than ten.
TEST(ProfilerTest, BothEnginesAskOfGroupsTheSame) {
  const ProfilerResult result = Profile(GroupsProfile(), OptionsFor({1, 7, 23, 61}), NoProgress);
  EXPECT_THAT(result.faults, IsEmpty());
  std::map<std::string, std::vector<double>> asked;
  for (const ProfileSeries& series : result.series) {
    const size_t slash = series.name.find('/');
    const std::vector<double> judged = JudgedAtEachSize(series);
    EXPECT_THAT(judged, SizeIs(4)) << series.name;
    const auto [other, is_first] = asked.try_emplace(series.name.substr(slash + 1), judged);
    EXPECT_TRUE(is_first || other->second == judged) << series.name;
  }
  EXPECT_THAT(asked, SizeIs(7));
  EXPECT_EQ(asked["join/active"], (std::vector<double>{1, 4, 12, 31})) << "half of N each";
  EXPECT_EQ(asked["cycle"], (std::vector<double>{1, 1, 1, 1})) << "each comes back once";
}

TEST(TimeSamplerTest, NamesTheFunctionThatBurnsTime) {
  TimeSampler sampler;
  UseTimeForTheSampler(std::chrono::milliseconds(200));
  const HotSpots spots = sampler.Finish();
  EXPECT_EQ(spots.method, "timer");
  EXPECT_GT(spots.samples, 20u);
  const auto burner = std::find_if(
      spots.functions.begin(), spots.functions.end(),
      [](const HotSpot& spot) { return spot.function == "schedq::UseTimeForTheSampler"; });
  ASSERT_NE(burner, spots.functions.end());
  EXPECT_GT(burner->inclusive_share, 0.9);
  EXPECT_GE(burner->inclusive_share, burner->self_share);
}

// The unwinder's own frames cannot be walked through while it puts a handler's registers in place:
// a walk there ended the program.
TEST(TimeSamplerTest, MeetsExceptionsOnTheirWay) {
  TimeSampler sampler;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  uint64_t caught = 0;
  while (std::chrono::steady_clock::now() < end) {
    try {
      throw caught;
    } catch (uint64_t) {
      ++caught;
    }
  }
  const HotSpots spots = sampler.Finish();
  EXPECT_GT(caught, 100u);
  EXPECT_GT(spots.samples, 20u);
}

TEST(SymbolsTest, ShortensNames) {
  EXPECT_EQ(ShortFunctionName("main"), "main");
  EXPECT_EQ(ShortFunctionName("void a::B<std::atomic>::C<int, d<e>>(f const&, int)"),
            "a::B<...>::C<...>");
  EXPECT_EQ(ShortFunctionName("a::(anonymous namespace)::B(int)"), "a::{anonymous}::B");
  EXPECT_EQ(ShortFunctionName("bool a::operator<(a::B, a::B)"), "a::operator<");
  EXPECT_EQ(ShortFunctionName("a::B::operator()(int) const"), "a::B::operator()");
  EXPECT_EQ(ShortFunctionName("a::B::operator bool() const"), "a::B::operator bool");
}

constexpr const char* kCallgrindText =
    "version: 1\nevents: Ir\n\nfl=(1) one.cc\nfn=(1) schedq::One(int)\n12 100\n+3 50\n"
    "cfn=(2) schedq::Two()\ncalls=3 20\n* 250\n\nfn=(2)\n20 250\n\ntotals: 400\n";

TEST(CallgrindTest, SumsUpFunctions) {
  const Result<InstructionCount> count = ParseCallgrind(kCallgrindText, "text");
  ASSERT_TRUE(count.ok()) << count.error().message();
  EXPECT_EQ(count->instructions, 400u);
  ASSERT_THAT(count->spots.functions, SizeIs(2));
  EXPECT_EQ(count->spots.functions[0].function, "schedq::Two");
  EXPECT_DOUBLE_EQ(count->spots.functions[0].self_share, 250.0 / 400);
  EXPECT_EQ(count->spots.functions[1].function, "schedq::One");
  EXPECT_DOUBLE_EQ(count->spots.functions[1].inclusive_share, 1);
}

TEST(CallgrindTest, RefusesOtherText) {
  EXPECT_EQ(ParseCallgrind("events: Dr\n", "counts").error().message(),
            "counts: expected callgrind's output with the one event Ir");
}

TEST(InstructionCountsTest, ReadsWhatRunOncePrints) {
  const std::string text = RunOnceText({.operations = 12, .pods_judged = 34});
  EXPECT_EQ(text, "operations: 12\npods judged: 34\nanswer: right\n");
  EXPECT_EQ(*OperationsOf(text), 12u);
  EXPECT_FALSE(OperationsOf("operations: 0\n").ok());
  EXPECT_FALSE(OperationsOf("nonsense").ok());
}

ProfileSeries Counted(const std::string& name,
                      const std::vector<std::pair<uint64_t, double>>& costs) {
  ProfileSeries series;
  series.name = name;
  for (const auto& [size, cost] : costs) {
    ProfilePoint point;
    point.size = size;
    point.measurements.push_back({.name = "instructions",
                                  .about = {},
                                  .unit = "instructions",
                                  .parameters = {},
                                  .repetitions = {cost}});
    series.points.push_back(std::move(point));
  }
  return series;
}

TEST(InstructionCountsTest, JudgesWhatWasPromised) {
  const std::vector<ProfileSeries> series = {Counted("with", {{10, 102}, {100, 103.5}}),
                                             Counted("without", {{10, 100}, {100, 101}})};
  std::vector<bool> holds;
  for (const PromiseVerdict& verdict :
       JudgeInstructions({{.proposal = "", .series = "with", .base = "without", .extra_max = 2},
                          {.proposal = "", .series = "with", .base = "", .factor_max = 1.01},
                          {.proposal = "", .series = "with", .base = "", .factor_max = 1.02},
                          {.proposal = "", .series = "with", .base = "not counted"}},
                         series)) {
    holds.push_back(verdict.holds);
  }
  EXPECT_THAT(holds, testing::ElementsAre(true, false, false, true));
}

}  // namespace
}  // namespace schedq
