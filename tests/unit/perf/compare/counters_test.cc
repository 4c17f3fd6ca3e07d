// Goal: counters of two virtual runs are compared exactly, allowances hold, and runs that cannot be
// compared give an error and never a pass.
// Method: two documents made by hand, with one difference at a time.
#include "perf/compare/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "perf/compare/junit.h"
#include "perf/compare/report.h"
#include "perf/documents/run_document.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RunDocument Document() {
  RunDocument document;
  document.seed = 7;
  document.cost_model = "m";
  for (const char* name : {"A", "B"}) {
    WorkloadResult& result = document.workloads.emplace_back();
    result.test_case = "C";
    result.workload = name;
    result.definition = "d";
    Repetition& repetition = result.repetitions.emplace_back();
    repetition.seed = 7;
    repetition.counters = {{"hints", 100}, {"pops", 5}};
  }
  return document;
}

std::string Refused(const RunDocument& base, const RunDocument& next) {
  const auto compared = CompareCounters(base, next, {});
  return compared ? std::string() : compared.error().message();
}

TEST(CompareCounters, EqualRunsHaveNoFailures) {
  const auto compared = CompareCounters(Document(), Document(), {});
  ASSERT_TRUE(compared.ok());
  EXPECT_THAT(compared->failures, IsEmpty());
  EXPECT_EQ(compared->workloads, 2u);
  EXPECT_EQ(compared->counters, 4u);
}

TEST(CompareCounters, AnyChangeIsNamedWithBeforeAndAfter) {
  RunDocument next = Document();
  next.workloads[1].repetitions[0].counters = {{"hints", 101}, {"new", 3}};
  const auto compared = CompareCounters(Document(), next, {});
  ASSERT_TRUE(compared.ok());
  ASSERT_THAT(compared->failures, SizeIs(3));
  const CounterChange& hints = compared->failures[0];
  EXPECT_EQ(hints.workload + ' ' + hints.metric + ' ' + hints.before + ' ' + hints.after,
            "C/B hints 100 101");
  EXPECT_EQ(compared->failures[1].before + compared->failures[1].after, "03");
  EXPECT_EQ(compared->failures[2].before + compared->failures[2].after, "50");
}

TEST(CompareCounters, AllowancesAreByNameAndTheLastOneDecides) {
  RunDocument next = Document();
  next.workloads[0].repetitions[0].counters["hints"] = 104;
  const Allowance wide = *ParseAllowance("^hin=5");
  const Allowance narrow = *ParseAllowance("hints=3.5");
  EXPECT_THAT(CompareCounters(Document(), next, {wide})->failures, IsEmpty());
  EXPECT_THAT(CompareCounters(Document(), next, {wide})->allowed, SizeIs(1));
  EXPECT_THAT(CompareCounters(Document(), next, {wide, narrow})->failures, SizeIs(1));
  EXPECT_THAT(CompareCounters(Document(), next, {*ParseAllowance("pops=100")})->failures,
              SizeIs(1));
  for (const char* bad : {"hints", "=5", "hints=", "hints=five", "hints=-1", "(=5", "hints=nan",
                          "hints=inf", "hints=1e999"}) {
    EXPECT_FALSE(ParseAllowance(bad).ok()) << bad;
  }
}

TEST(CompareCounters, AWorkloadThatIsGoneOrFailsFails) {
  RunDocument next = Document();
  next.workloads.pop_back();
  next.workloads[0].outcome = WorkloadOutcome::kFailed;
  next.workloads[0].reason = "lost a pod";
  const auto compared = CompareCounters(Document(), next, {});
  ASSERT_TRUE(compared.ok());
  ASSERT_THAT(compared->failures, SizeIs(2));
  EXPECT_EQ(compared->failures[0].after, "failed: lost a pod");
  EXPECT_EQ(compared->failures[1].after, "absent");
}

TEST(CompareCounters, WhatIsAnotherWorkloadIsNamedAndNotCompared) {
  RunDocument next = Document();
  next.workloads[0].definition = "e";
  next.workloads[0].repetitions[0].counters["hints"] = 1;
  next.workloads.push_back(next.workloads[1]);
  next.workloads[2].workload = "New";
  const auto compared = CompareCounters(Document(), next, {});
  ASSERT_TRUE(compared.ok());
  EXPECT_THAT(compared->failures, IsEmpty());
  EXPECT_THAT(compared->notes, ElementsAre("C/A: not compared, its definition is another one",
                                           "C/New: not compared, it is new"));
}

TEST(CompareCounters, WhatCannotBeComparedIsNeverAPass) {
  RunDocument next = Document();
  next.seed = 8;
  EXPECT_THAT(Refused(Document(), next), HasSubstr("seed 7 before and 8 after"));
  next = Document();
  next.clock = ClockKind::kReal;
  EXPECT_THAT(Refused(Document(), next), HasSubstr("virtual clock"));
  next = Document();
  next.cost_model = "other";
  EXPECT_THAT(Refused(Document(), next), HasSubstr("cost model m before"));
  next = Document();
  next.workloads[0].outcome = WorkloadOutcome::kInterrupted;
  EXPECT_THAT(Refused(Document(), next), HasSubstr("C/A was interrupted"));
  next = Document();
  next.workloads[0].repetitions.emplace_back();
  EXPECT_THAT(Refused(Document(), next), HasSubstr("repetitions of C/A 1 before and 2 after"));
  EXPECT_THAT(Refused(RunDocument(), RunDocument()), HasSubstr("no workload"));
}

// Each of these was "0 counters compared: pass".
TEST(CompareCounters, NothingMeasuredIsNeverAPass) {
  RunDocument none = Document();
  for (WorkloadResult& result : none.workloads) result.repetitions[0].counters.clear();
  EXPECT_THAT(Refused(none, none), HasSubstr("no counter was measured in both"));
  none = Document();
  none.workloads[0].repetitions.clear();
  EXPECT_THAT(Refused(none, none), HasSubstr("C/A was measured in no repetition"));
  EXPECT_THAT(Refused(Document(), none), HasSubstr("C/A was measured in no repetition"));
}

// The second workload of a name was never looked at.
TEST(CompareCounters, TwoWorkloadsOfOneNameAreRefused) {
  RunDocument twice = Document();
  twice.workloads[1].workload = "A";
  twice.workloads[1].repetitions[0].counters["hints"] = 1;
  EXPECT_THAT(Refused(Document(), twice), HasSubstr("C/A is there twice"));
  EXPECT_THAT(Refused(twice, Document()), HasSubstr("C/A is there twice"));
}

TEST(CounterReports, SayEverythingOnceAndEscapeIt) {
  RunDocument next = Document();
  next.workloads[0].repetitions[0].counters = {{"a{b=\"<c>\"}", 1}};
  const auto compared = CompareCounters(Document(), next, {});
  const auto command = [](const CounterChange& change) { return "run " + change.workload; };
  const std::string text = CountersText(*compared, command, 2, false);
  EXPECT_THAT(text, HasSubstr("and 1 more of this workload"));
  EXPECT_THAT(text, HasSubstr("reproduce: run C/A"));
  EXPECT_THAT(text, HasSubstr("2 workloads, 5 counters compared: 3 differ"));
  const std::string junit = JunitText({CountersJunit(*compared, command, {})});
  EXPECT_THAT(junit, HasSubstr("tests=\"2\" failures=\"1\""));
  EXPECT_THAT(junit, HasSubstr("a{b=&quot;&lt;c&gt;&quot;}: 0 before, 1 after"));
  EXPECT_THAT(CountersMarkdown(*compared, command), HasSubstr("| C/A | `hints` | 100 | 0 | exact"));
}

// Only workloads were compared, so that a scenario could change unseen.
TEST(CompareCounters, FiguresOfScenariosAreCompared) {
  RunDocument base = Document();
  base.scenarios = {
      {"KEP-5501/x", "about", {"patches", "flickers"}, {{"off", {3, 0}}, {"on", {5, 1}}}}};
  RunDocument next = base;
  EXPECT_THAT(CompareCounters(base, next, {})->failures, IsEmpty());
  EXPECT_EQ(CompareCounters(base, next, {})->workloads, 3u);
  next.scenarios[0].arms[1].figures[0] = 6;
  const auto compared = CompareCounters(base, next, {});
  ASSERT_THAT(compared->failures, SizeIs(1));
  const CounterChange& change = compared->failures[0];
  EXPECT_EQ(change.workload + ' ' + change.metric + ' ' + change.before + ' ' + change.after,
            "KEP-5501/x on: patches 5 6");
  EXPECT_THAT(CompareCounters(base, next, {*ParseAllowance("patches=20")})->failures, IsEmpty());
  next.scenarios.clear();
  EXPECT_EQ(CompareCounters(base, next, {})->failures[0].after, "absent");
}

}  // namespace
}  // namespace schedq
