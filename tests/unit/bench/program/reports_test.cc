// Goal: what commands print of their results says what the results say.
// Method: small documents written by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/lab/profile/profile_kind.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/profile_answer.h"
#include "bench/program/reports/profile_tables.h"
#include "bench/program/reports/real_tables.h"
#include "bench/program/reports/run_report.h"
#include "bench/program/reports/run_verdict.h"
#include "bench/program/reports/words.h"
#include "perf/documents/data_items.h"
#include "perf/documents/profile_document.h"
#include "perf/documents/real_figures.h"
#include "perf/documents/run_document.h"
#include "perf/statistics/measurement.h"

namespace schedq {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Costs and work that grow with these powers of N.
ProfileSeries Series(const std::string& name, double time_power, double work_power) {
  ProfileSeries series;
  series.name = name;
  series.operation = "event";
  for (const uint64_t size : {1000, 10'000, 20'000}) {
    ProfilePoint point;
    point.size = size;
    const auto n = static_cast<double>(size);
    Measurement time;
    time.name = "time";
    time.repetitions = {100 * std::pow(n, time_power), 101 * std::pow(n, time_power)};
    Measurement work;
    work.name = "pods_judged";
    work.repetitions = {std::pow(n, work_power)};
    point.measurements = {time, work};
    series.points.push_back(point);
  }
  series.fits = FitSeries(series);
  return series;
}

ProfileKind Requeue() {
  ProfileKind kind;
  kind.name = "requeue";
  kind.size_of = "unschedulable pods";
  return kind;
}

TEST(ProfileAnswer, SaysWhatNarrowingSaves) {
  ProfileDocument document;
  document.series = {Series("lockfree/narrowed", 0, 0), Series("lockfree/all_pods", 0.5, 0.5)};
  EXPECT_THAT(ProfileAnswer(document, Requeue(), 100),
              HasSubstr("lockfree: N events cost N^1.50 without narrowing, N^1.00 with; at 20,000 "
                        "pods 141 times less\n"));
  EXPECT_FALSE(TimeOutgrowsWork(document));
  document.series[1].points.pop_back();
  EXPECT_THAT(ProfileAnswer(document, Requeue(), 100), HasSubstr("at 10,000 pods 100 times less"))
      << "the largest size that both have";
}

TEST(ProfileAnswer, OfOtherKindsSaysHowOneOperationGrows) {
  ProfileDocument document;
  document.series = {Series("lockfree/insert", 0.5, 0), Series("lockfree/pop", 0, 0)};
  const std::string answer = ProfileAnswer(document, Requeue(), 100);
  EXPECT_THAT(answer, HasSubstr("lockfree/insert: the cost of one event grows with N^0.50, from "));
  EXPECT_THAT(answer, HasSubstr("lockfree/pop: the cost of one event hardly grows, from "));
}

TEST(ProfileAnswer, SaysWhyTimeGrowsWhereTheWorkDoesNot) {
  ProfileDocument document;
  document.series = {Series("lockfree/all_pods", 1.2, 1)};
  EXPECT_TRUE(TimeOutgrowsWork(document));
  Measurement near;
  near.parameters = {{"bytes", 1 << 20}};
  near.repetitions = {4};
  Measurement far = near;
  far.parameters = {{"bytes", 256 << 20}};
  far.repetitions = {95};
  const std::string why = WhyTimeOutgrowsWork({near, far}, 1000);
  EXPECT_THAT(why, HasSubstr("4.00 ns within 1.00 MiB, 95.0 ns within 256 MiB"));
  EXPECT_THAT(WhyTimeOutgrowsWork({}, 100), IsEmpty());
}

// "time" was explained as that of a run's measured section.
TEST(ProfileTables, ExplainTheirOwnWords) {
  ProfileDocument document;
  document.series = {Series("lockfree/narrowed", 0, 0)};
  const std::string text = ProfileText(document, Requeue(), {});
  EXPECT_THAT(text, HasSubstr("\ntime: of one operation, on the machine's clock"));
  EXPECT_THAT(text, Not(HasSubstr("measured section")));
  EXPECT_THAT(text, HasSubstr("\npods judged: pods that plugins were asked about"));
}

WorkloadResult Measured(const std::string& name) {
  WorkloadResult result;
  result.test_case = "Case";
  result.workload = name;
  return result;
}

ThresholdOutcome Threshold(bool met, bool comparable) {
  ThresholdOutcome threshold;
  threshold.metric = "SchedulingThroughput";
  threshold.bucket = "Average";
  threshold.limit = 300;
  threshold.measured = met ? 310 : 290;
  threshold.met = met;
  threshold.comparable = comparable;
  return threshold;
}

TEST(RunVerdict, CountsAndGivesReasons) {
  RunDocument document;
  for (const char* name : {"A", "B", "C"}) document.workloads.push_back(Measured(name));
  document.workloads[0].thresholds = {Threshold(true, true)};
  document.workloads[1].thresholds = {Threshold(false, true)};
  EXPECT_EQ(RunSummary(document), "3 measured, 0 skipped, 1 of 2 thresholds met");
  EXPECT_THAT(RunFailures(document, true),
              ElementsAre("threshold missed: Case/B: SchedulingThroughput Average is 290, expected "
                          "above 300"));
  EXPECT_THAT(RunFailures(document, false), IsEmpty());
  document.workloads[2].outcome = WorkloadOutcome::kFailed;
  document.workloads[2].reason = "the audit found 1 faults";
  document.verdicts = {{"KEP-1", true, "a"}, {"KEP-1", false, "b"}};
  EXPECT_EQ(RunSummary(document),
            "2 measured, 0 skipped, 1 failed, 1 of 2 thresholds met; 0 scenarios played, 1 of 2 "
            "promises hold");
  EXPECT_THAT(RunFailures(document, false),
              ElementsAre("failed: Case/C: the audit found 1 faults", "KEP-1 does not hold: b"));
}

// A run on the real clock predicts nothing, and a threshold that was set for a model or for another
// cluster says nothing about it.
TEST(RunVerdict, OnTheRealClockNothingIsPredictedOrJudged) {
  RunReport report;
  WorkloadResult& result = report.document.workloads.emplace_back();
  result.test_case = "Basic";
  result.workload = "500Nodes_2000Pods";
  result.gates["SchedulerPreQueueingHints"] = false;
  DataItem& item = result.repetitions.emplace_back().metrics.emplace_back();
  item.data["Average"] = 50'000;
  item.unit = "pods/s";
  item.labels = {{"Metric", "SchedulingThroughput"}, {"Name", "Basic/500Nodes_2000Pods"}};
  ThresholdOutcome& threshold = result.thresholds.emplace_back();
  threshold.metric = "SchedulingThroughput";
  threshold.bucket = "Average";
  threshold.limit = 1e9;
  threshold.measured = 50'000;
  const auto print = [&report](ClockKind clock) {
    report.document.clock = clock;
    return PredictionTable(report.document, {.width_max = 200});
  };
  EXPECT_THAT(print(ClockKind::kVirtual),
              AllOf(HasSubstr("predicted by"), HasSubstr("error"), Not(HasSubstr("formula"))));
  EXPECT_THAT(print(ClockKind::kReal),
              AllOf(HasSubstr("measured by"), HasSubstr("measured here"),
                    HasSubstr("elsewhere, with kube-scheduler"), Not(HasSubstr("predicted"))));
  EXPECT_THAT(RunSummary(report.document), HasSubstr("1 thresholds of real clusters, not judged"));
  EXPECT_THAT(RunFailures(report.document, /*judges_thresholds=*/false), IsEmpty());
}

TEST(RunVerdict, TheEffectOfNarrowingStandsBesideWhatWasPublished) {
  RunDocument document;
  document.clock = ClockKind::kVirtual;
  const auto add = [&](bool narrows, double pods_per_second) {
    WorkloadResult& result = document.workloads.emplace_back();
    result.test_case = "SchedulingWithResourceClaimTemplate";
    result.workload = "2000pods_200nodes";
    result.gates["SchedulerPreQueueingHints"] = narrows;
    DataItem& item = result.repetitions.emplace_back().metrics.emplace_back();
    item.data["Average"] = pods_per_second;
    item.labels = {{"Metric", "SchedulingThroughput"}};
  };
  add(true, 300);
  EXPECT_THAT(PredictionTable(document, {.width_max = 200}), Not(HasSubstr("effect")));
  add(false, 100);
  // 711 and 297 pods a second are published: 2.39 times.
  EXPECT_THAT(PredictionTable(document, {.width_max = 200}),
              ContainsRegex("effect of narrowing +3.00x +2.39x +\\+25.3 %"));
}

TEST(RunVerdict, NothingMeasuredIsNoSuccess) {
  RunDocument document;
  document.workloads = {Measured("A"), Measured("B")};
  for (WorkloadResult& result : document.workloads) result.outcome = WorkloadOutcome::kSkipped;
  EXPECT_THAT(RunFailures(document, true),
              ElementsAre("nothing was measured: 2 skipped, 0 failed"));
  document.workloads[1].outcome = WorkloadOutcome::kMeasured;
  EXPECT_THAT(RunFailures(document, true), IsEmpty());
}

TEST(RunVerdict, EnginesThatDifferAreNamed) {
  std::vector<RunReport> reports(2);
  reports[0].document.engine = "lockfree";
  reports[1].document.engine = "classic";
  for (RunReport& report : reports) report.document.workloads = {Measured("A"), Measured("B")};
  EXPECT_THAT(EngineDifferences(reports), IsEmpty());
  reports[1].document.workloads[1].repetitions.resize(1);
  EXPECT_THAT(EngineDifferences(reports),
              ElementsAre(HasSubstr("Case/B: lockfree and classic differ")));
}

TEST(Words, ExplainTheTitlesThatAreThere) {
  const std::string words = WordsOf("workload  pods/s  p99 wait\n", 100);
  EXPECT_THAT(words, HasSubstr("p99 wait: "));
  EXPECT_THAT(words, Not(HasSubstr("attempts: ")));
  EXPECT_THAT(WordsOf("pods  idle-gate\n", 100), IsEmpty()) << "part of a word is none";
}

TEST(Progress, KeepsTheStepAndTheTimeWhereTheMiddleDoesNotFit) {
  EXPECT_EQ(ProgressText(3, 30, "Basic/500Nodes: 2.1 s of virtual time", 20, 80),
            "3/30 Basic/500Nodes: 2.1 s of virtual time, about 20 s left");
  EXPECT_EQ(ProgressText(3, 30, "Basic/500Nodes: 2.1 s of virtual time", 300, 40),
            "3/30 Basic/5...l time, about 5 min left");
  EXPECT_EQ(ProgressText(1, 2, "x", std::nullopt, 80), "1/2 x");
  EXPECT_LT(ProgressText(3, 30, "Basic", 20, 10).size(), 10u);
}

// A round of 100 pods in a second: 10 us a pod, of which 2 us are the queue's and its events'.
TEST(RealTables, ShowLatenciesTheQueuesShareAndAllocations) {
  RunReport report;
  report.document.clock = ClockKind::kReal;
  report.document.engine = "lockfree";
  WorkloadResult& result = report.document.workloads.emplace_back();
  result.test_case = "Case";
  result.workload = "one";
  Repetition& repetition = result.repetitions.emplace_back();
  repetition.seconds = 1;
  repetition.latencies["pod_scheduled"] = {.count = 100, .p50_ns = 1000, .max_ns = 5'000'000};
  repetition.latencies["event_requeued"] = {.count = 7, .p99_99_ns = 3000, .max_ns = 4000};
  repetition.real = {.cpu_by_thread = {},
                     .cpu_by_part = {{"queue", 0.0001}, {"events", 0.0001}, {"server", 0.0008}},
                     .conflicts = 0,
                     .allocations = 4200,
                     .allocated_bytes = 64'000,
                     .memory = MemoryCourse{.bytes_at_tenth = 1 << 20, .bytes_at_end = 3 << 19},
                     .instructions_per_pod = {}};
  const std::string text = RealTables({report}, {.wide = true});
  EXPECT_THAT(text, HasSubstr("create to bound"));
  EXPECT_THAT(text, HasSubstr("5.00 ms"));
  EXPECT_THAT(text, ContainsRegex("event to requeued +lockfree .*3.00 us +4.00 us"));
  EXPECT_THAT(text, Not(HasSubstr("create to popped")));
  EXPECT_THAT(text, ContainsRegex("10.0 us +20 %"));
  EXPECT_THAT(text, ContainsRegex("42.0 +640"));
  EXPECT_THAT(text, ContainsRegex("1.00 MiB +1.50 MiB +.50.0 %"));
}

}  // namespace
}  // namespace schedq
