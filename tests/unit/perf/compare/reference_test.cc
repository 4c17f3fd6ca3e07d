// Goal: each verdict of a comparison with measured runs, its throughput and its summary are what
// perf/compare/reference.h says.
// Method: made-up references and counts, one on each side of each bound.
#include "perf/compare/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perf/documents/reference_comparison.h"
#include "perf/documents/upstream_runs.h"
#include "tests/support/upstream_file.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

UpstreamRuns Reference() {
  return *ParseUpstreamRuns(UpstreamFileJson("Case", "W").dump(), "w.json");
}

// What equals the reference in all that it counts.
WholeRun Equal() {
  WholeRun run;
  run.counters = {
      {"scheduler_schedule_attempts_total{result=\"scheduled\",profile=\"default\"}", 60},
      {"scheduler_schedule_attempts_total{result=\"scheduled\",profile=\"other\"}", 40},
      {"scheduler_schedule_attempts_total{result=\"unschedulable\",profile=\"default\"}", 20},
      {"scheduler_queue_incoming_pods_total{queue=\"active\",event=\"UnscheduledPodAdd\"}", 100},
      {"scheduler_queue_incoming_pods_total{queue=\"backoff\",event=\"AssignedPodDelete\"}", 20},
      {"scheduler_queueing_hint_execution_duration_seconds_count{plugin=\"NodeResourcesFit\","
       "event=\"AssignedPodDelete\",hint=\"Queue\"}",
       20},
      {"scheduler_no_family_of_ours_total{result=\"scheduled\"}", 7}};
  run.pods_bound = 100;
  run.active_seconds = 1;
  return run;
}

std::vector<std::string> Misses(const ReferenceComparison& comparison) {
  std::vector<std::string> names;
  for (const CounterMiss& miss : comparison.misses)
    names.push_back(miss.family + " " + miss.counter);
  return names;
}

TEST(ReferenceTest, EachClosenessHasItsBound) {
  const auto of = [](uint64_t count, uint64_t reference) {
    return ClosenessOf(count, reference, reference);
  };
  EXPECT_EQ(of(1000, 1000), Closeness::kEqual);
  EXPECT_EQ(of(1001, 1000), Closeness::kWithin1Percent);
  EXPECT_EQ(of(990, 1000), Closeness::kWithin1Percent);
  EXPECT_EQ(of(989, 1000), Closeness::kWithin10Percent);
  EXPECT_EQ(of(1100, 1000), Closeness::kWithin10Percent);
  EXPECT_EQ(of(1101, 1000), Closeness::kWithinFactor2);
  EXPECT_EQ(of(2000, 1000), Closeness::kWithinFactor2);
  EXPECT_EQ(of(500, 1000), Closeness::kWithinFactor2);
  EXPECT_EQ(of(2001, 1000), Closeness::kWorse);
  EXPECT_EQ(of(499, 1000), Closeness::kWorse);
  EXPECT_EQ(of(0, 1), Closeness::kWorse);
  EXPECT_EQ(of(1, 0), Closeness::kWorse);
}

TEST(ReferenceTest, SeveralMeasuredRunsAreARange) {
  EXPECT_EQ(ClosenessOf(80, 77, 112), Closeness::kEqual);
  EXPECT_EQ(ClosenessOf(77, 77, 112), Closeness::kEqual);
  EXPECT_EQ(ClosenessOf(113, 77, 112), Closeness::kWithin1Percent);
  EXPECT_EQ(ClosenessOf(70, 77, 112), Closeness::kWithin10Percent);
  EXPECT_EQ(ClosenessOf(38, 77, 112), Closeness::kWorse);
}

TEST(ReferenceTest, EqualCountsAreEqualInEveryFamily) {
  const ReferenceComparison comparison = CompareWithReference(Reference(), {Equal()});
  EXPECT_THAT(comparison.misses, IsEmpty());
  EXPECT_EQ(comparison.file, "w.json");
  EXPECT_EQ(comparison.runs, 1u);
  EXPECT_EQ(comparison.closeness.at("attempts").of(Closeness::kEqual), 2u)
      << "what is zero on both sides does not count";
  EXPECT_EQ(comparison.closeness.at("requeues").of(Closeness::kEqual), 2u);
  EXPECT_EQ(comparison.closeness.at("hints").of(Closeness::kEqual), 1u);
  EXPECT_EQ(SumOf(comparison.closeness).all(), 5u);
}

TEST(ReferenceTest, WhatOneSideLacksIsAMissAndTheFarthestComesFirst) {
  WholeRun run = Equal();
  run.counters["scheduler_schedule_attempts_total{result=\"unschedulable\",profile=\"default\"}"] =
      21;
  run.counters["scheduler_queue_incoming_pods_total{queue=\"active\",event=\"ForceActivate\"}"] = 3;
  run.counters.erase(
      "scheduler_queueing_hint_execution_duration_seconds_count{plugin=\"NodeResourcesFit\","
      "event=\"AssignedPodDelete\",hint=\"Queue\"}");
  run.counters
      ["scheduler_async_api_call_execution_total{call_type=\"pod_binding\",result="
       "\"success\"}"] = 100;
  const ReferenceComparison comparison = CompareWithReference(Reference(), {run});
  EXPECT_THAT(Misses(comparison),
              ElementsAre("calls pod_binding|success", "hints NodeResourcesFit|Queue",
                          "requeues active|ForceActivate", "attempts unschedulable"));
  EXPECT_EQ(comparison.misses[1].count, 0u);
  EXPECT_EQ(comparison.misses[1].reference_min, 20u);
  EXPECT_EQ(comparison.misses[3].closeness, Closeness::kWithin10Percent);
  EXPECT_EQ(SumOf(comparison.closeness).of(Closeness::kWorse), 3u);
}

TEST(ReferenceTest, HintsOfOnePluginAndAnswerAreAddedOverEvents) {
  UpstreamRuns reference = Reference();
  reference.runs[0].hints["NodeResourcesFit|NodeAdd|Queue"] = 5;
  WholeRun run = Equal();
  run.counters
      ["scheduler_queueing_hint_execution_duration_seconds_count{plugin="
       "\"NodeResourcesFit\",event=\"AssignedPodUpdate\",hint=\"Queue\"}"] = 5;
  EXPECT_THAT(CompareWithReference(reference, {run}).misses, IsEmpty());
}

TEST(ReferenceTest, OfSeveralRepetitionsTheMedianCounts) {
  WholeRun more = Equal();
  more.counters["scheduler_schedule_attempts_total{result=\"error\",profile=\"default\"}"] = 9;
  EXPECT_THAT(CompareWithReference(Reference(), {more, Equal(), Equal()}).misses, IsEmpty());
  EXPECT_THAT(Misses(CompareWithReference(Reference(), {more, Equal(), more})),
              ElementsAre("attempts error"));
}

TEST(ReferenceTest, TimesCountOnlyOfLongRunsThatHadTheMachineForThemselves) {
  UpstreamRuns reference = Reference();
  const auto throughput = [&] { return CompareWithReference(reference, {Equal()}).throughput; };
  ASSERT_TRUE(throughput().has_value());
  EXPECT_DOUBLE_EQ(throughput()->pods_per_second, 100);
  EXPECT_DOUBLE_EQ(throughput()->reference, 50);
  EXPECT_DOUBLE_EQ(throughput()->ratio(), 2);
  UpstreamRun busy = reference.runs[0];
  busy.busy_by_others_cores = 0.1;
  busy.sections[0].seconds = 100;
  reference.runs.push_back(busy);
  EXPECT_DOUBLE_EQ(throughput()->reference, 50) << "the busy run's times do not count";
  reference.runs[0].has_throughput = false;
  EXPECT_EQ(throughput(), std::nullopt);
  reference.runs[0].has_throughput = true;
  reference.runs[0].sections[0].seconds = 0;
  EXPECT_EQ(throughput(), std::nullopt) << "nothing was bound in no time";
}

TEST(ReferenceTest, TheSummaryCountsWorkloadsAndCounters) {
  WholeRun other = Equal();
  other.counters["scheduler_schedule_attempts_total{result=\"error\",profile=\"default\"}"] = 1;
  other.counters
      ["scheduler_queue_incoming_pods_total{queue=\"active\",event="
       "\"UnscheduledPodAdd\"}"] = 105;
  other.active_seconds = 2;
  WholeRun far = Equal();
  far.counters["scheduler_queue_incoming_pods_total{queue=\"active\",event=\"ForceActivate\"}"] = 1;
  UpstreamRuns fast = Reference();
  fast.runs[0].sections[0].seconds = 1;
  ReferenceComparison absent;
  absent.not_compared = "was not measured here";
  const ReferenceSummary summary =
      SummaryOf({CompareWithReference(fast, {Equal()}), CompareWithReference(Reference(), {other}),
                 CompareWithReference(fast, {far}), absent});
  EXPECT_EQ(summary.workloads, 3u);
  EXPECT_EQ(summary.attempts_equal, 2u);
  EXPECT_EQ(summary.requeues_and_hints_within_10_percent, 2u);
  EXPECT_EQ(SumOf(summary.closeness).all(), 5u + 6u + 6u);
  EXPECT_EQ(SumOf(summary.closeness).of(Closeness::kWorse), 2u);
  EXPECT_EQ(summary.closeness.at("requeues").of(Closeness::kWithin10Percent), 1u);
  EXPECT_EQ(summary.throughputs, 3u);
  EXPECT_DOUBLE_EQ(*summary.rank_correlation, 1);
  EXPECT_EQ(SummaryOf({absent}).workloads, 0u);
  EXPECT_EQ(SummaryOf({absent}).rank_correlation, std::nullopt);
}

}  // namespace
}  // namespace schedq
