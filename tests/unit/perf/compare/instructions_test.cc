// Goal: counts of two builds are compared by a small threshold, and the function behind a change is
// named with its part in it. What history says names the commits of a change.
// Method: counts and histories made by hand.
#include "perf/compare/instructions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "perf/compare/history_report.h"
#include "perf/compare/junit.h"
#include "perf/documents/history.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

InstructionSample Sample(const std::string& name, uint64_t add, uint64_t pop) {
  return {name, add + pop, {{"Queue::Add", add}, {"Queue::Pop", pop}}};
}

TEST(CompareInstructions, TheFunctionBehindAChangeIsNamed) {
  const std::vector<InstructionChange> changes =
      CompareInstructions({Sample("add", 100'000, 100'000), Sample("pop", 10, 10)},
                          {Sample("pop", 10, 10), Sample("add", 102'400, 99'900)}, 0.005);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].name, "add");
  EXPECT_TRUE(changes[0].is_worse);
  ASSERT_THAT(changes[0].functions, SizeIs(1)) << "what went the other way is not behind it";
  EXPECT_EQ(changes[0].functions[0].function, "Queue::Add");
  EXPECT_NEAR(changes[0].functions[0].share, 2400.0 / 2300, 1e-9);
  EXPECT_FALSE(changes[1].is_worse);
  EXPECT_THAT(changes[1].functions, IsEmpty());
  EXPECT_THAT(InstructionsTable(changes, {}),
              HasSubstr("add\n  Queue::Add: 100,000 before, 102,400 after, 104 % of the change\n"));
  EXPECT_THAT(JunitText({InstructionsJunit(changes)}),
              HasSubstr("<failure message=\"+1.15 %, most by Queue::Add\">"));
  EXPECT_THAT(InstructionsMarkdown(changes), HasSubstr("| +1.15 % | `Queue::Add` |"));
}

TEST(CompareInstructions, TheThresholdIsHalfAPercent) {
  const auto is_worse = [](uint64_t after) {
    return CompareInstructions({Sample("a", 100'000, 0)}, {Sample("a", after, 0)}, 0.005)[0]
        .is_worse;
  };
  EXPECT_FALSE(is_worse(100'500));
  EXPECT_TRUE(is_worse(100'501));
  EXPECT_FALSE(is_worse(50'000)) << "fewer are no fault";
}

TEST(CompareHistory, AChangeIsNamedByItsCommits) {
  std::vector<HistoryRun> runs;
  for (int i = 0; i < 24; ++i) {
    HistoryRun& run = runs.emplace_back();
    run.commit = "c" + std::to_string(i);
    run.series["slower"] = {(i < 12 ? 300.0 : 270.0) + i % 5, "pods/s"};
    run.series["still"] = {5.0 + i % 3, ""};
    run.series["shifted"] = {(i < 12 ? 1000.0 : 1010.0) + i % 5, "ms"};
  }
  const std::vector<SeriesHistory> series = SeriesOf(runs, {});
  ASSERT_THAT(series, SizeIs(3));
  const std::string text = HistoryText(series, {});
  EXPECT_THAT(text, HasSubstr("3 series, 1 changes\n"));
  EXPECT_THAT(text, HasSubstr("slower: -9.8 %, slower (302 to 272)"));
  EXPECT_THAT(text, HasSubstr("\n  in c11..c12\n"));
  EXPECT_THAT(text, Not(HasSubstr("shifted: "))) << "1 % is below what is shown";
  HistoryRequest all;
  all.change_min = 0;
  EXPECT_THAT(HistoryText(SeriesOf(runs, all), {}), HasSubstr("shifted: +1.0 %, slower"));
}

}  // namespace
}  // namespace schedq
