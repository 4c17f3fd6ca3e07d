// Goal: contestants of a group take turns round by round, and a wrong answer is never recorded.
// Method: cases that report a known time and record their order.

#include "bench/lab/micro/benchmark_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/lab/micro/benchmark_list.h"
#include "perf/documents/bench_document.h"

namespace schedq {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr int64_t kOperations = 1000;

BenchmarkCase Timed(const std::string& contestant, double nanoseconds_each,
                    std::vector<std::string>& ran) {
  BenchmarkCase one;
  one.group = "test/group";
  one.contestant = contestant;
  one.operations = kOperations;
  one.body = [contestant, nanoseconds_each, &ran](benchmark::State& state) {
    ran.push_back(contestant);
    const auto operations = static_cast<double>(state.max_iterations);
    while (state.KeepRunningBatch(state.max_iterations)) {
      state.SetIterationTime(nanoseconds_each * operations * 1e-9);
    }
  };
  return one;
}

void NoProgress(const std::string&, uint64_t) {}

TEST(BenchmarkDriver, EveryRoundRunsEveryContestantOnce) {
  std::vector<std::string> ran;
  BenchmarkDriver driver({.rounds = 20, .seed = 3}, nullptr);
  const BenchCase result =
      driver.RunGroup({Timed("a", 5, ran), Timed("b", 7, ran), Timed("c", 9, ran)}, NoProgress);

  ASSERT_THAT(ran, SizeIs(60));
  std::set<std::vector<std::string>> orders;
  for (size_t first = 0; first < ran.size(); first += 3) {
    const std::vector<std::string> round(ran.begin() + static_cast<ptrdiff_t>(first),
                                         ran.begin() + static_cast<ptrdiff_t>(first) + 3);
    EXPECT_THAT(std::set<std::string>(round.begin(), round.end()), SizeIs(3));
    orders.insert(round);
  }
  EXPECT_GT(orders.size(), 2u) << "the order is not shuffled";
  ASSERT_THAT(result.contenders, SizeIs(3));
  EXPECT_EQ(result.contenders[1].name, "b");
  EXPECT_THAT(result.contenders[1].repetitions, SizeIs(20));
  EXPECT_THAT(result.contenders[1].repetitions, Each(testing::DoubleNear(7, 1e-6)));
  EXPECT_EQ(result.contenders[1].answers_checked, 20u * kOperations);
}

TEST(BenchmarkDriver, AGroupThatTakesLongHasTheLeastRounds) {
  std::vector<std::string> ran;
  BenchmarkDriver limited(
      {.rounds = 9, .rounds_min = 4, .group_time_max = std::chrono::milliseconds(0)}, nullptr);
  EXPECT_THAT(limited.RunGroup({Timed("a", 5, ran)}, NoProgress).contenders[0].repetitions,
              SizeIs(4));
  BenchmarkDriver brief(
      {.rounds = 2, .rounds_min = 4, .group_time_max = std::chrono::milliseconds(0)}, nullptr);
  EXPECT_THAT(brief.RunGroup({Timed("a", 5, ran)}, NoProgress).contenders[0].repetitions,
              SizeIs(2));
}

TEST(BenchmarkDriver, AWrongAnswerIsAFaultAndNoRepetition) {
  std::vector<std::string> ran;
  BenchmarkCase wrong = Timed("wrong", 1, ran);
  wrong.body = [](benchmark::State& state) { state.SkipWithError("wrong answer: two"); };
  BenchmarkDriver driver({.rounds = 2, .seed = 1}, nullptr);
  const BenchCase result = driver.RunGroup({Timed("right", 1, ran), wrong}, NoProgress);

  EXPECT_THAT(result.contenders[0].repetitions, SizeIs(2));
  EXPECT_THAT(result.contenders[1].repetitions, SizeIs(0));
  EXPECT_THAT(driver.faults(), ElementsAre("test/group/wrong: wrong answer: two",
                                           "test/group/wrong: wrong answer: two"));
}

TEST(BenchmarkDriver, TheMirrorIsOneDocument) {
  std::vector<std::string> ran;
  std::ostringstream mirror;
  {
    BenchmarkDriver driver({.rounds = 2, .seed = 1}, &mirror);
    driver.RunGroup({Timed("a", 5, ran), Timed("b", 7, ran)}, NoProgress);
  }
  const std::string text = mirror.str();
  EXPECT_THAT(text, HasSubstr("test/group/a"));
  EXPECT_THAT(text, HasSubstr("test/group/b"));
  EXPECT_EQ(text.find("\"context\""), text.rfind("\"context\""));
}

}  // namespace
}  // namespace schedq
